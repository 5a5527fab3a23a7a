import { expect, it } from "vitest";
import { call, openStage, PAGE, post, running, text, user, eventsIn } from "./stage.ts";

const STOP = "/v1/sessions/s1/ag-ui/stop";
const input = (runId: string) => ({ threadId: "s1", runId, messages: [user(`m-${runId}`, "hi")] });

it.each([
  ["client", { type: "RUN_FINISHED", outcome: { type: "cancelled" } }],
  ["client0", { type: "RUN_ERROR", code: "cancelled" }],
] as const)("a stop in the middle of arguments, as a stock %s is told", async (version, end) => {
  await using stage = await openStage();
  const agent = stage[version]();
  agent.messages = [user("u1", "go")] as never;
  const first = running(agent as never, { runId: "r1", tools: [PAGE] });
  const attempt = await stage.attempt();
  await attempt.append({ type: "round.open" }, ...call("c1", "page", '{"half":').slice(0, 2));
  await first.until("TOOL_CALL_ARGS");
  const { body } = await stage.ask("POST", STOP, { threadId: "s1", runId: "r1" });
  expect(body).toEqual({ stopped: [attempt.runId] });
  const types = (await first.ended).map(({ type }) => type);
  expect(types).toContain("TOOL_CALL_END");
  expect(first.last()).toMatchObject(end);
  expect((await stage.state()).calls).toMatchObject([{ id: "c1", outcome: "cancelled" }]);
});

it("stops all that has not ended, and nothing is fine", async () => {
  await using stage = await openStage();
  const first = await post(stage, input("r1"));
  const { runId } = await stage.attempt();
  const second = await post(stage, input("r2"));
  const { body } = await stage.ask("POST", STOP);
  expect(body.stopped).toHaveLength(2);
  expect(body.stopped.at(-1)).toBe(runId);
  for (const response of [first, second]) {
    const told = eventsIn(await response.text());
    expect(told.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
  }
  expect((await stage.ask("POST", STOP, {})).body).toEqual({ stopped: [] });
  expect((await stage.ask("POST", STOP, { runId: "r1" })).body).toEqual({ stopped: [] });
});

it("of a run that nobody knows, or by somebody who may not", async () => {
  await using stage = await openStage();
  const { body } = await stage.ask("POST", STOP, { runId: "none" });
  expect(body).toMatchObject({ code: "unknown_run", status: 404 });
  const first = await post(stage, input("r1"));
  const token = await stage.grant([{ sessions: "*", verbs: ["read", "send", "answer:*"] }]);
  const refused = await stage.ask("POST", STOP, {}, token);
  expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
  const attempt = await stage.attempt();
  await attempt.append({ type: "round.open" }, ...text("a1", "x"), { type: "round.close" });
  await attempt.finish();
  expect(eventsIn(await first.text()).at(-1)?.data).toMatchObject({ type: "RUN_FINISHED" });
});
