import { afterAll, beforeAll, expect, test } from "vitest";
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
  await command(
    "strict",
    { commands: [{ id: "two", ...decide }, { id: "no" }, schema] },
    server.demo,
  );
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
