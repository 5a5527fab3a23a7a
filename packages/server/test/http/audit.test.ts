import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256 } from "../../src/audit/chain.ts";
import { linesOf } from "../../src/audit/lines.ts";
import { verifyAudit } from "../../src/index.ts";
import { startRun, startServer, type Granted, type TestServer } from "../support/http.ts";

let server: TestServer;
let work: Granted;

beforeAll(async () => {
  server = await startServer();
  work = await startRun(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const command = (session: string, body: object, token = server.ana) =>
  server.request("POST", `/v1/sessions/${session}/commands`, { body, token });

async function read(session: string, query = "") {
  const { status, body } = await server.request("GET", `/v1/sessions/${session}/audit${query}`);
  const { records = [], next } = body as { records?: Record<string, unknown>[]; next?: number };
  return { status, records, next, code: body["code"] };
}

test("is read in pages, in the order of the refusals", async () => {
  await server.request("PUT", "/v1/sessions/paged", { body: {} });
  for (let n = 1; n <= 5; n += 1)
    await command("paged", { id: `n${n}`, type: "run.cancel", runId: `run${n}` });
  const seqs = async (query: string) => {
    const { records, next } = await read("paged", query);
    return [records.map(({ seq, runId }) => `${String(seq)} ${String(runId)}`).join(), next];
  };
  expect(await seqs("?limit=2")).toEqual(["1 run1,2 run2", 2]);
  expect(await seqs("?after=2&limit=2")).toEqual(["3 run3,4 run4", 4]);
  expect(await seqs("?after=4&limit=2")).toEqual(["5 run5", undefined]);
  expect(await seqs("?after=5")).toEqual(["", undefined]);
  expect(await seqs("?after=")).toEqual(["1 run1,2 run2,3 run3,4 run4,5 run5", undefined]);
});

test("of a session without refusals is empty, and of none unknown", async () => {
  await server.request("PUT", "/v1/sessions/calm", { body: {} });
  expect(await read("calm")).toMatchObject({ status: 200, records: [] });
  await command("nowhere", { id: "a", type: "run.cancel", runId: "r" });
  expect(await read("nowhere")).toMatchObject({ status: 404, code: "unknown_session" });
});

test.each(["?after=x", "?after=-1", "?after=1.5", "?limit=0"])("%s is refused", async (query) => {
  expect(await read("s", query)).toMatchObject({ status: 400, code: "invalid_request" });
});

test("is read with a user's token alone", async () => {
  for (const token of [server.demo, work.token]) {
    const { status, body } = await server.request("GET", "/v1/sessions/s/audit", { token });
    expect([status, body["code"]]).toEqual([403, "forbidden"]);
  }
  const { status } = await server.request("GET", "/v1/sessions/s/audit", { token: null });
  expect(status).toBe(401);
});

test("holds what its sender may not say, alone and in a batch, but nothing that cannot be read", async () => {
  await server.request("PUT", "/v1/sessions/strict", { body: {} });
  const decide = { type: "call.decide", callId: "c1", approved: true, approvalId: "a" };
  const schema = {
    id: "t",
    type: "tools.advertise",
    tools: [{ name: "x", parameters: { type: 1 } }],
  };
  await command("strict", { id: "one", ...decide }, server.demo);
  await command("strict", { commands: [{ id: "two", ...decide }, { id: "no" }] }, server.demo);
  await command("strict", schema);
  await command("strict", { id: "three", type: "nonsense" });
  const { records } = await read("strict");
  expect(records).toMatchObject([
    { seq: 1, actor: "agent:demo", command: { id: "one", type: "call.decide" }, code: "forbidden" },
    { seq: 2, actor: "agent:demo", command: { id: "two", type: "call.decide" }, code: "forbidden" },
    { seq: 3, command: { id: "t", type: "tools.advertise" }, code: "invalid_request" },
  ]);
});

test("leaves the session's own answers as they are", async () => {
  const photograph = async () =>
    JSON.stringify([
      await server.request("GET", "/v1/sessions/s"),
      await server.request("GET", "/v1/sessions/s/state"),
      await server.request("GET", "/v1/sessions/s/entries"),
    ]);
  const before = await photograph();
  await command("s", { id: "x", type: "call.claim", callId: "none" });
  expect((await read("s")).records.at(-1)).toMatchObject({ code: "unknown_call" });
  expect(await photograph()).toBe(before);
});

async function exported(query = ""): Promise<Response> {
  return fetch(`${server.url}/v1/sessions/s/audit/export${query}`, {
    headers: { authorization: `Bearer ${server.ana}` },
  });
}

test("is exported as lines that anybody can check with the public key", async () => {
  const response = await exported();
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const { body } = await server.request("GET", "/v1/sessions/s/audit/verify");
  const { keys, ...found } = body as { keys: string[] };
  const text = await response.text();
  expect(text.endsWith("\n")).toBe(true);
  const lines = text.trimEnd().split("\n");
  const finding = await verifyAudit(linesOf([Buffer.from(text)]), { keys });
  expect(finding).toMatchObject({ ok: true, session: "s" });
  expect(found).toEqual({ ...finding, upTo: expect.anything() });
  expect(lines.map((line) => (JSON.parse(line) as { what?: string }).what)).toContain(
    "message.added",
  );

  const later = await (await exported("?after=1")).text();
  expect(later.split("\n")[1]).toBe(lines[2]);
  const { status } = await exported("?after=999");
  expect(status).toBe(400);
});

test.each(["export", "verify"])(
  "%s is for people alone, and for sessions that exist",
  async (what) => {
    for (const token of [server.demo, work.token]) {
      const { status } = await server.request("GET", `/v1/sessions/s/audit/${what}`, { token });
      expect(status).toBe(403);
    }
    const { status } = await server.request("GET", `/v1/sessions/nowhere/audit/${what}`);
    expect(status).toBe(404);
  },
);

test("a late answer's digest is of its salt and its content", async () => {
  const { runId, attempt } = work;
  const append = (seq: number, ...items: object[]) =>
    command(
      "s",
      { id: `a${seq}`, type: "run.append", runId, attempt, producer: "p", seq, items },
      work.token,
    );
  await append(
    1,
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "late", toolCallName: "t" },
    { type: "TOOL_CALL_END", toolCallId: "late" },
  );
  await command("s", { id: "stop", type: "call.cancel", callId: "late" });
  const answer = { type: "text", text: "too late" };
  await append(2, { type: "call.answer", callId: "late", outcome: "ok", answer });
  const { records } = await read("s");
  expect(records.filter(({ content }) => content !== undefined)).toHaveLength(1);
  for (const { salt, content, payload } of records) {
    const isLate = content !== undefined;
    expect(typeof salt === "string").toBe(isLate);
    if (isLate)
      expect(sha256(`${String(salt)}\n${JSON.stringify(answer)}`)).toBe(
        (payload as { digest: string }).digest,
      );
  }
});
