import { expect, test } from "vitest";
import { runFacts, steerNotes } from "../page/facts.ts";
import { steered, streaming, ends } from "../page/gallery/conversation.ts";
import { run } from "../page/gallery/fixtures.ts";

test("a message that steers a run says what is to become of it, unless it was read", () => {
  const notes = steerNotes(steered);
  const [waits, missed] = steered.slice(-2).map(({ id }) => id);
  expect([...notes]).toEqual([
    [waits, "will be read next"],
    [missed, "came too late to be read by that run"],
  ]);
});

test("a run can be steered while an attempt is at work, and only then", () => {
  expect(runFacts(streaming).steerable).toBe(true);
  expect(runFacts(ends.slice(0, 2)).steerable).toBe(false);
  const queued = run({ status: "queued", attempt: 0 });
  expect(runFacts([{ type: "run", id: queued.id, run: queued, parts: [] }])).toMatchObject({
    steerable: false,
    activeRunId: queued.id,
  });
});
