import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { startRun, startServer, type TestServer } from "../support/http.ts";

test("C43 after a restart, what waits is found over sessions, with the ids to decide by", async () => {
  const storage = memoryStorage();
  {
    await using before = await startServer({ storage });
    await propose(before);
  }
  await using server = await startServer({ storage });
  const { status, body } = await server.request("GET", "/v1/calls?tool=pay&status=gated");
  expect(status).toBe(200);
  const [call] = body["calls"] as { approval: { id: string } }[];
  expect(call).toMatchObject({ session: "s", id: "c1", waiting: { kind: "person" } });
  const decision = { id: "3", type: "call.decide", callId: "c1", approvalId: call?.approval.id };
  const decided = await server.request("POST", "/v1/sessions/s/commands", {
    body: { ...decision, approved: true },
  });
  expect(decided.status).toBe(200);
  expect((await server.request("GET", "/v1/calls?status=gated")).body).toEqual({ calls: [] });
  const other = await server.request("GET", "/v1/calls?agent=none");
  expect(other.body).toEqual({ calls: [] });
});

test("an inbox asked for by what there is not is refused", async () => {
  await using server = await startServer();
  for (const query of ["status=settled", "waitsFor=godot", "escalated=false", "limit=0"]) {
    const { status, body } = await server.request("GET", `/v1/calls?${query}`);
    expect([query, status, body["code"]]).toEqual([query, 400, "invalid_request"]);
  }
  expect((await server.request("GET", "/v1/calls", { token: null })).status).toBe(401);
});

/** A session in which a call of a gated tool waits. */
async function propose(server: TestServer): Promise<void> {
  const policy = { tools: [{ tool: "pay", approval: "always" }] };
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo", policy } });
  const { runId, attempt, token } = await startRun(server);
  const fence = { runId, attempt, producer: "p" };
  const items = [
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pay" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "round.close" },
  ];
  const commands = [
    { id: "1", type: "run.append", ...fence, seq: 1, items },
    { id: "2", type: "run.finish", ...fence, seq: 2 },
  ];
  await server.request("POST", "/v1/sessions/s/commands", { body: { commands }, token });
}
