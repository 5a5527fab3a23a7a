import { reduce } from "@holdfast/protocol";
import { createProjection } from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { applied } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { atWork, ofType } from "./play.ts";
import { emptyReader, optionsFor, watch } from "./reader.ts";

it("12.3.14 a state of null is told as that, to who joins and to who posted another", async () => {
  const { desk, agent } = atWork();
  agent.append({ type: "STATE_SNAPSHOT", snapshot: null });
  applied(agent.finish());
  const next = desk.send("m2");
  desk.start(next);
  applied(desk.agent(next).finish());
  const { joined } = watch(copy(desk.entries), { cuts: [desk.entries.length] });
  const events = joined.get(desk.entries.length) ?? [];
  expect((await follow(events)).state).toBeNull();
  const state = emptyReader();
  const live = createProjection({ ...optionsFor(), state: {}, messages: [], runId: next });
  const posted = desk.entries.flatMap((entry) => {
    reduce(state, entry);
    return live.project(entry, state);
  });
  expect(ofType(posted, "STATE_SNAPSHOT").map(({ snapshot }) => snapshot)).toEqual([null]);
});
