import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRun, startServer, type Granted, type TestServer } from "../support/http.ts";
import { agUiRequests } from "./bad-ag-ui.ts";
import { answer, append, commands, message, reads, requests } from "./bad-input.ts";

let server: TestServer;
let work: Granted;

beforeAll(async () => {
  server = await startServer({ limits: { bodyBytes: 10_000 } });
  const send = (body: unknown, token = server.ana) =>
    server.request("POST", "/v1/sessions/s/commands", { body, token });
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  await send({ id: "tools", type: "tools.advertise", tools: [{ name: "locate" }] });
  work = await startRun(server);
  const { runId, attempt, token } = work;
  const fence = { runId, attempt, producer: "p", seq: 1 };
  const items = [
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "settled", toolCallName: "locate" },
    { type: "TOOL_CALL_END", toolCallId: "settled" },
    { type: "round.close" },
  ];
  await send({ id: "call", type: "run.append", ...fence, items }, token);
  await send({ ...answer, id: "first", answer: { type: "json", value: 1 } });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("bad input is a typed error that says what to do, and writes nothing", () => {
  test.each([
    ...commands.map((it) => ({ method: "POST", path: "/v1/sessions/s/commands", ...it })),
    ...reads.map((it) => ({ method: "GET", path: "", ...it })),
    ...[...requests, ...agUiRequests].map((it) => ({ method: "POST", path: "", ...it })),
  ])("$what", async ({ method, path, body, code, status, says, ...it }) => {
    const before = await server.request("GET", "/v1/sessions/s");
    const answered = await server.request(method, path, it.with?.(server, work) ?? { body });
    expect(answered.status).toBe(status);
    expect(answered.type).toBe("application/problem+json");
    expect(answered.body).toMatchObject({ type: "about:blank", title: code, status, code });
    expect(answered.body["retryable"]).toBeTypeOf("boolean");
    if (typeof says === "string") expect(answered.body["detail"]).toContain(says);
    else expect(answered.body["detail"]).toMatch(says);
    expect(await server.request("GET", "/v1/sessions/s")).toEqual(before);
    expect((await server.request("GET", "/v1/sessions/t")).status).toBe(404);
  });

  test("in a batch, one bad command is refused and the others stand", async () => {
    const { status, body } = await server.request("POST", "/v1/sessions/s/commands", {
      body: {
        commands: [
          { ...message, id: "b1", messageId: "b1" },
          { id: "b2", type: "nonsense" },
          "no command",
          { ...answer, id: "b3" },
          { ...message, id: "b4", messageId: "b4" },
        ],
      },
    });
    expect(status).toBe(200);
    const verdicts = body["verdicts"] as { id: string; status: string; error?: { code: string } }[];
    expect(verdicts.map(({ id, status, error }) => [id, error?.code ?? status])).toEqual([
      ["b1", "applied"],
      ["b2", "unknown_command"],
      ["", "invalid_request"],
      ["b3", "already_answered"],
      ["b4", "applied"],
    ]);
  });

  test("a body without a length is limited too", async () => {
    const response = await fetch(`${server.url}/v1/sessions/s/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.ana}` },
      body: new ReadableStream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode("x".repeat(4_000)));
        },
      }),
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "too_large" });
  });

  test("the connection goes on after a refusal", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const post = (body: string) =>
      socket.write(
        `POST /v1/sessions/s/commands HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.ana}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    post("{");
    post(JSON.stringify({ ...message, id: "again", messageId: "again" }));
    await expect.poll(() => text).toContain('"id":"again","status":"applied"');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    socket.destroy();
  });
});

test("unknown fields are tolerated, in commands and in items", async () => {
  const sent = await server.request("POST", "/v1/sessions/s/commands", {
    body: { ...message, id: "f1", messageId: "f1", future: true },
  });
  expect(sent.status).toBe(200);
  const { body, token } = append([{ type: "CUSTOM", name: "n", value: 1, future: true }])(
    server,
    work,
  );
  const appended = await server.request("POST", "/v1/sessions/s/commands", { body, token });
  expect(appended.body).toMatchObject({ status: "applied" });
});
