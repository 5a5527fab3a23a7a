import {
  reduce,
  reduceAll,
  type AgentItem,
  type Entry,
  type SessionState,
} from "@holdfast/protocol";
import {
  createProjection,
  joinThread,
  resumesFrom,
  resumeThread,
  type Projection,
  type ProjectionOptions,
  type Sent,
} from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { expect, it } from "vitest";
import { applied, proposal, type Desk } from "../support/desk.ts";
import { choices, settings } from "../properties/walk.ts";
import { emptyReader, optionsFor } from "./reader.ts";
import { atWork } from "./play.ts";
import { sessionOf } from "./rich.ts";

it("11.4 whoever resumes is sent what it was not sent, as it was sent live", () => {
  let resumed = 0;
  const property = fc.property(
    choices(40),
    fc.boolean(),
    fc.infiniteStream(fc.nat()),
    (numbers, joining, random) => {
      const entries = sessionOf(numbers, { erasing: false });
      const [first = 0, ...heads] = [...random.take(7)];
      const from = joining ? first % entries.length : 0;
      const state = emptyReader();
      reduceAll(state, entries.slice(0, from));
      const options = optionsFor();
      const live = joining ? joinThread(state, options).projection : createProjection(options);
      const sent: { cursor: { offset: string; index: number }; event: unknown }[] = [];
      const checks = new Set(heads.map((head) => head % entries.length));
      entries.forEach((entry, at) => {
        if (at < from) return;
        reduce(state, entry);
        live.project(entry, state).forEach((event, index) => {
          sent.push({ cursor: { offset: entry.offset, index }, event });
        });
        const begins = resumesFrom(state, options);
        if (!checks.has(at) || begins === undefined) return;
        const again = entries.filter(({ offset }) => offset >= begins && offset <= state.head);
        // The last of what was sent is of interest, since only the activation at work can be resumed in.
        const recent = [...sent.entries()].slice(-40);
        for (const [place, { cursor }] of recent.filter((_, n) => (n + first) % 3 === 0)) {
          const got = resumeThread(state, again, cursor, options);
          if (got === "reset") continue;
          resumed += 1;
          expect(got.events).toEqual(sent.slice(place + 1));
          expect(got.projection.shown).toEqual(live.shown);
        }
      });
    },
  );
  fc.assert(property, settings(30));
  expect(resumed).toBeGreaterThan(100);
});

const answer = (callId: string, text = "done"): AgentItem => ({
  type: "call.answer",
  callId,
  outcome: "ok",
  answer: { type: "text", text },
});

/**
 * What a reader is sent behind each event of the activation it is shown, live and resumed when the first `until` entries were
 * there.
 */
function resumedIn({ entries }: Desk, until: number, options: ProjectionOptions) {
  const state = emptyReader();
  const live = createProjection(options);
  const sent: Sent[] = [];
  const follow = (projection: Projection, on: SessionState, entry: Entry): Sent[] => {
    reduce(on, entry);
    const { offset } = entry;
    return projection
      .project(entry, on)
      .map((event, index) => ({ cursor: { offset, index }, event }));
  };
  for (const entry of entries.slice(0, until)) sent.push(...follow(live, state, entry));
  const begins = resumesFrom(state, options) ?? "";
  const again = entries.slice(0, until).filter(({ offset }) => offset >= begins);
  const places = [...sent.entries()].filter(([, { cursor }]) => cursor.offset > begins);
  const resumed = places.map(([at, { cursor }]) => {
    const own = emptyReader();
    reduceAll(own, entries.slice(0, until));
    const got = resumeThread(own, again, cursor, options);
    if (got === "reset") return { at, got };
    const rest = entries.slice(until).flatMap((entry) => follow(got.projection, own, entry));
    return { at, got: [...got.events, ...rest] };
  });
  for (const entry of entries.slice(until)) sent.push(...follow(live, state, entry));
  return resumed.map(({ at, got }) => ({ got, live: sent.slice(at + 1) }));
}

it("12.3.7 a call of before that the activation answers is answered for whoever resumes", () => {
  const { desk, runId, agent } = atWork();
  agent.append({ type: "round.open" }, ...proposal("g", "gated"), ...proposal("h", "gated"));
  applied(agent.finish());
  for (const [callId, approvalId] of Object.entries({ g: "approval1", h: "approval2" }))
    desk.user({ type: "call.decide", callId, approvalId, approved: true });
  desk.start(runId);
  const again = desk.agent(runId);
  for (const callId of ["g", "h"]) applied(again.append(answer(callId)));
  const until = desk.entries.length;
  applied(again.finish());
  const resumed = resumedIn(desk, until, optionsFor());
  expect(resumed.map(({ live }) => live.length)).toEqual([2, 1]);
  for (const { got, live } of resumed) expect(got).toEqual(live);
});

it("12.3.7 where a run of before ended meanwhile, who is shown one alone joins anew", () => {
  const { desk, agent } = atWork();
  const say = (id: string): AgentItem[] => [
    { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: id },
    { type: "TEXT_MESSAGE_END", messageId: id },
  ];
  applied(agent.append(...say("a")));
  const other = desk.send("m2", { whileActive: "concurrent" });
  desk.start(other);
  applied(desk.agent(other).append(...say("b")));
  applied(agent.finish());
  const until = desk.entries.length;
  applied(desk.agent(other).finish());
  // Its end brings what was said beside it.
  const resumed = resumedIn(desk, until, { ...optionsFor(), runId: other });
  expect(resumed).toHaveLength(3);
  for (const { got, live } of resumed) {
    expect(JSON.stringify(live)).toContain('"a"');
    expect(got).toBe("reset");
  }
});

it.each([
  ["was read", { type: "round.open" }],
  ["is still to be read", { type: "RAW", event: 1 }],
] as const)("12.3.7 where a message %s that some hold already, one joins anew", (_, last) => {
  const { desk, agent } = atWork();
  applied(agent.append({ type: "round.open" }, ...proposal("c", "search")));
  desk.send("m2", { whileActive: "steer" });
  applied(agent.append(answer("c"), { type: "round.close" }, last));
  const until = desk.entries.length;
  applied(agent.finish());
  const resumed = resumedIn(desk, until, optionsFor());
  expect(resumed.length).toBeGreaterThan(3);
  for (const { got } of resumed) expect(got).toBe("reset");
});
