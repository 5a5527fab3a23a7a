import type { Metadata } from "@holdfast/protocol";
import type { Peer } from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { follow } from "./client.ts";
import { atWork, ofType, played } from "./play.ts";

const note = (said: Record<string, unknown>) => ({
  type: "run.annotate" as const,
  metadata: { "ag-ui": said } as Metadata,
});
const used = (inputTokens: number) => [{ model: "m", inputTokens }];

it.each<Peer>(["1.0", "0"])(
  "12.3.12 what an agent said of its run is told where it ends: to peers of %s",
  async (peer) => {
    const { desk, runId, agent } = atWork();
    agent.append(
      { type: "round.open" },
      note({ 1: { usage: used(1), result: { first: true } } }),
      ...proposal("c1", "page"),
      { type: "round.close" },
    );
    applied(agent.finish());
    const answer = { type: "text", text: "yes" } as const;
    applied(desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer }));
    desk.start(runId);
    desk.agent(runId).append(note({ 2: { usage: used(2), result: "half" } }));
    desk.timer({ type: "lease", runId, attempt: 2 });
    desk.start(runId);
    desk.agent(runId).append(note({ 3: { usage: used(3) }, "3-1": { result: 0 } }));
    applied(desk.agent(runId).finish());
    const events = played(desk, peer);
    await follow(events, { peer });
    expect(ofType(events, "RUN_FINISHED")).toMatchObject([
      { usage: used(1), result: { first: true } },
      { usage: [...used(2), ...used(3)], result: 0 },
    ]);
  },
);

it.each<Peer>(["1.0", "0"])("12.3.12 so it is where a run fails, without a result: %s", (peer) => {
  const { desk, agent } = atWork();
  agent.append(note({ 1: { usage: used(1), result: 1 } }));
  applied(agent.fail("broken"));
  const [error] = ofType(played(desk, peer), "RUN_ERROR");
  expect(error).toMatchObject({ code: "broken", usage: used(1) });
  expect(error).not.toHaveProperty("result");
});

it.each<Peer>(["1.0", "0"])("12.3.12 and where it was stopped: %s", (peer) => {
  const { desk, runId, agent } = atWork();
  agent.append(note({ 1: { usage: used(1), result: 1 } }));
  applied(desk.user({ type: "run.cancel", runId }));
  const end = played(desk, peer).at(-1);
  expect(end).toMatchObject({ usage: used(1) });
  expect(end).not.toHaveProperty("result");
});

it.each([
  ["no list", "many"],
  ["no count", [{ inputTokens: -1 }]],
  ["nothing", null],
])("12.3.12 what AG-UI would not take as usage is left out: %s", async (_, usage) => {
  const { desk, agent } = atWork();
  agent.append(note({ 1: { usage, result: null }, other: { usage: used(1) }, 2: "x" }));
  applied(agent.finish());
  const events = played(desk);
  await follow(events);
  expect(Object.keys(events.at(-1) ?? {})).toEqual(["type", "threadId", "runId", "outcome"]);
});
