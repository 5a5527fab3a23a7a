import type { Frame } from "@holdfast/protocol";
import { expect, test } from "vitest";
import type { FrameText, Visibility } from "../../src/engine/index.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { startAttempt, startEngine } from "../support/engine.ts";

/** Sees nothing, and counts how often it was asked whether it does. */
function blind(key: string): Visibility & { asked: number } {
  const visibility = {
    key,
    asked: 0,
    sees: () => {
      visibility.asked += 1;
      return false;
    },
  };
  return visibility;
}

const ARGUMENTS = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"a":1}' } as const;

async function next(frames: AsyncGenerator<readonly FrameText[], void, void>): Promise<FrameText> {
  const { value } = await frames.next();
  const [frame] = value ?? [];
  if (!frame) throw new Error("No frame came.");
  return frame;
}

test("a frame is made once for all who see the same", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  await append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" });
  const { offset } = await engine.state("s");
  const readers = [blind("k"), blind("k"), blind("k"), blind("other")];
  const streams = await Promise.all(
    readers.map((visibility) =>
      engine.subscribe("s", `${offset}~${visibility.key}`, { visibility }),
    ),
  );
  const waiting = Promise.all(streams.map(next));
  await append(ARGUMENTS);
  const frames = await waiting;
  expect(readers.map(({ asked }) => asked)).toEqual([1, 0, 0, 1]);
  expect(frames[1]).toBe(frames[0]);
  expect(frames[3]).not.toBe(frames[0]);
  for (const stream of streams) await stream.return();
});

test("a state is made once for all who see the same, as long as it stands", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  await append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" }, ARGUMENTS);
  const readers = [blind("k"), blind("k")];
  const states = await Promise.all(readers.map((visibility) => engine.state("s", visibility)));
  expect(states[1]).toBe(states[0]);
  expect(readers.reduce((sum, { asked }) => sum + asked, 0)).toBe(1);
});

test("who sees everything gets the text that was stored, byte for byte", async () => {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  const { append } = await startAttempt(engine, "s");
  const { offset } = await engine.state("s");
  const frames = await engine.subscribe("s", offset);
  const live = next(frames);
  await append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" }, ARGUMENTS);
  const stored = await storage.entries("s", offset, 1_000_000);
  expect(stored).toHaveLength(1);
  const text = `{"after":"${offset}","entries":${stored[0]?.json}}`;
  const { cursor, last, visibility: _, ...made } = await live;
  expect(made).toEqual({ after: offset, text });
  expect(cursor).toBe(last);
  const caughtUp = await engine.subscribe("s", offset);
  expect((await next(caughtUp)).text).toBe(text);
  expect((await engine.page("s", offset, 10)).entries).toBe(stored[0]?.json);
  expect((JSON.parse(text) as Frame).entries).toHaveLength(2);
  for (const stream of [frames, caughtUp]) await stream.return();
});
