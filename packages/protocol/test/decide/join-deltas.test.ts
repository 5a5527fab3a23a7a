import { joinDeltas, type AgentItem, type RunAppend } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { openDesk } from "../support/desk.ts";

const limits = {
  eventBytes: 1_204,
  argumentsLength: 1_000,
  resultBytes: 1_000,
  textLength: 1_000_000,
};
const SMALL = (limits.eventBytes - 1_024) / 6;

const messageId = fc.constantFrom("m1", "m2", "never-opened");
const TEXT = "TEXT_MESSAGE_CONTENT";
const REASONING = "REASONING_MESSAGE_CONTENT";
const delta = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("x".repeat(SMALL), "\u0001".repeat(SMALL + 1), "x".repeat(limits.eventBytes)),
);
const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant(TEXT), messageId: fc.constant("m1"), delta }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom(TEXT, REASONING), messageId, delta }) },
);
const item: fc.Arbitrary<AgentItem> = fc.oneof(
  { weight: 12, arbitrary: text },
  { weight: 1, arbitrary: text.map((it) => ({ ...it, metadata: { codec: { n: 1 } } })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("TEXT_MESSAGE_END"), messageId }) },
  { weight: 1, arbitrary: fc.constant({ type: "round.open" }) },
  { weight: 1, arbitrary: fc.constant({ type: "CUSTOM", name: "x", value: null }) },
) as fc.Arbitrary<AgentItem>;

function scene() {
  const desk = openDesk({ limits });
  const runId = desk.send("m0");
  desk.start(runId);
  const agent = desk.agent(runId);
  agent.append(
    { type: "TEXT_MESSAGE_START", messageId: "m1" },
    { type: "REASONING_MESSAGE_START", messageId: "m2", role: "reasoning" },
  );
  return { desk, agent };
}

it("3.4.1 decides deltas that were joined before as it decides them one by one", () => {
  let joins = 0;
  let skips = 0;
  fc.assert(
    fc.property(fc.array(item, { maxLength: 30, size: "max" }), (items) => {
      const [one, other] = [scene(), scene()];
      const command: RunAppend = { type: "run.append", ...one.agent.fence(), items };
      const joined = joinDeltas(command, limits);
      const verdict = one.agent.command(command);
      expect(other.agent.command(joined)).toEqual(verdict);
      expect(other.desk.entries).toEqual(one.desk.entries);
      if (joined.items.length < items.length) joins += 1;
      if (verdict.skipped) skips += 1;
    }),
  );
  expect([joins > 20, skips > 20]).toEqual([true, true]);
});

it("3.4.1 leaves what was sent as it was, and joins up to a size", () => {
  const token = { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "word " } as const;
  const items = Array.from({ length: 2_000 }, () => token);
  const fence = { runId: "r1", attempt: 1, producer: "main", seq: 1 };
  const command: RunAppend = { type: "run.append", ...fence, items };
  const joined = joinDeltas(command, { eventBytes: 1 << 20 });
  expect(items[0]).toEqual(token);
  expect(joined.joined).toEqual([819, 819, 362]);
  expect(joined.items.map((it) => ("delta" in it ? it.delta : ""))).toEqual(
    [819, 819, 362].map((count) => "word ".repeat(count)),
  );
  const single: RunAppend = { type: "run.append", ...fence, items: [token] };
  expect(joinDeltas(single, { eventBytes: 1 << 20 })).toBe(single);
});
