import { ERROR_CODES, type CommandBody, type ErrorCode } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { CALL_CELLS } from "../../packages/protocol/test/tables/call-cells.ts";
import { ROUND_CELLS } from "../../packages/protocol/test/tables/round-cells.ts";
import { RUN_CELLS } from "../../packages/protocol/test/tables/run-cells.ts";
import { SETTLE_CELLS } from "../../packages/protocol/test/tables/settle-cells.ts";
import { ANEW_CELLS, STEP_CELLS } from "../../packages/protocol/test/tables/step-cells.ts";
import {
  answerTo,
  decisionOn,
  openHouse,
  proposal,
  suspendOn,
  type House,
} from "../cases/support.ts";
import { changesNothing } from "../hostile/support.ts";
import type { Wire } from "../support/wire.ts";

// The cells of the tables show what each of their refusals leaves; here are the codes that no cell has.

const PAGE = { name: "page", executor: "client" } as const;

/** Leads a house to where the code is met, and gives what is refused then: who sends what. */
type Refused = (house: House) => Promise<[by: Wire, what: Asked]>;
type Asked = (CommandBody & { id?: string }) | { method: string; path: string; body?: unknown };

const send = (messageId: string, more: object = {}) =>
  ({ type: "message.send", messageId, content: "hm", ...more }) as const;

const REFUSED: Partial<Record<ErrorCode, Refused>> = {
  async invalid_request({ ana }) {
    const parameters = { type: "nonsense" };
    return [ana, { type: "tools.advertise", tools: [PAGE, { name: "bad", parameters }] }];
  },
  async invalid_offset({ ana, session }) {
    return [ana, { method: "GET", path: `/v1/sessions/${session}/entries?after=nowhere` }];
  },
  async unauthenticated({ ana, session }) {
    const body = { id: "x", ...send("m") };
    return [ana.as("nobody"), { method: "POST", path: `/v1/sessions/${session}/commands`, body }];
  },
  async not_found({ ana, session }) {
    const path = `/v1/sessions/${session}/nothing`;
    return [ana, { method: "POST", path, body: { id: "x", ...send("m") } }];
  },
  async unknown_session({ ana }) {
    const body = { id: "x", ...send("m") };
    return [ana, { method: "POST", path: "/v1/sessions/nowhere/commands", body }];
  },
  async unknown_command({ ana }) {
    return [ana, { type: "run.rewind" } as unknown as CommandBody];
  },
  async too_large({ ana, session }) {
    const body = { id: "x", ...send("m"), content: "x".repeat(20 * 1024 * 1024) };
    return [ana, { method: "POST", path: `/v1/sessions/${session}/commands`, body }];
  },
  async reset({ ana, session }) {
    await ana.create("other");
    const { offset } = await ana.state("other");
    return [ana, { method: "GET", path: `/v1/sessions/${session}/entries?after=${offset}` }];
  },
  async key_reused({ ana, session }) {
    await ana.command(session, { id: "once", ...send("m") });
    return [ana, { id: "once", ...send("other") }];
  },
  async unknown_run({ ana }) {
    return [ana, { type: "run.cancel", runId: "none" }];
  },
  async unknown_node({ ana }) {
    return [ana, send("m", { parentId: "none" })];
  },
  async message_exists({ ana, session }) {
    await ana.command(session, send("m"));
    return [ana, send("m", { whileActive: "replace" })];
  },
  async unknown_call({ ana }) {
    return [ana, answerTo("none")];
  },
  async not_approver(house) {
    const rule = { tool: "transfer", approval: "always", approvers: ["user:bo"] } as const;
    await house.ana.command(house.session, { type: "policy.set", policy: { tools: [rule] } });
    await suspendOn(house, "transfer");
    return [house.ana, await decisionOn(house, "c1", true)];
  },
  async invalid_result(house) {
    const result = { type: "object", required: ["city"] };
    await house.send("go");
    const { append } = await house.attempt({ tools: [{ ...PAGE, result }] });
    await append({ type: "round.open" }, ...proposal("c1", "page", "{}"), { type: "round.close" });
    return [house.ana, answerTo("c1", { town: "Oslo" })];
  },
  async tool_name_taken(house) {
    await house.send("go");
    await house.attempt();
    return [house.ana, { type: "tools.advertise", tools: [PAGE, { name: "weather" }] }];
  },
};

/** What no command is refused with, and why. */
const NEVER: Partial<Record<ErrorCode, string>> = {
  overloaded: "the server could not take it: it may have been written or not, and is sent again",
  internal: "the same",
  budget_exceeded: "the end of a run whose item was taken",
  result_too_large: "an agent settles its call so before it is sent",
  unreachable: "a client's word",
  closed: "a client's word",
};

test.each(Object.entries(REFUSED))("%s leaves state and log as they were", async (code, lead) => {
  await using house = await openHouse();
  const [by, asked] = await lead(house);
  const told = await changesNothing(house, async () => {
    if ("type" in asked) return (await by.command(house.session, asked)).error;
    const { body } = await by.call(asked.method, asked.path, asked.body);
    return body as { code?: string };
  });
  expect(told?.code).toBe(code);
  // And the session is as usable as before.
  const next = send("next", { whileActive: "queue", whilePending: "queue" });
  expect((await house.bo.command(house.session, next)).status).toBe("applied");
});

test("session_closed leaves state and log as they were", async () => {
  await using house = await openHouse();
  await house.ana.command(house.session, { type: "session.close" });
  const { error } = await changesNothing(house, () =>
    house.ana.command(house.session, send("after")),
  );
  expect(error?.code).toBe("session_closed");
});

test("too_many_requests leaves state and log as they were", async () => {
  const once = { perSecond: 0.001, burst: 1 };
  await using house = await openHouse({ limits: { commands: once } });
  const commands = [{ id: "1", ...send("m") }];
  const path = `/v1/sessions/${house.session}/commands`;
  expect((await house.ana.call("POST", path, { commands })).status).toBe(200);
  const { body } = await changesNothing(house, () => house.ana.call("POST", path, { commands }));
  expect(body).toMatchObject({ code: "too_many_requests" });
});

/** Met by the two tests above. */
const ENDS = ["session_closed", "too_many_requests"];

test("every code is met: in a cell of the tables, or here", () => {
  const tables = [CALL_CELLS, SETTLE_CELLS, RUN_CELLS, ROUND_CELLS, STEP_CELLS, ANEW_CELLS];
  const inCells = [...JSON.stringify(tables).matchAll(/"! (\w+)"/g)].map(([, code]) => code);
  expect(new Set([...inCells, ...ENDS, ...Object.keys(REFUSED), ...Object.keys(NEVER)])).toEqual(
    new Set(Object.keys(ERROR_CODES)),
  );
});
