import type { Entry, Frame } from "@holdfast/protocol";
import { expect, test } from "vitest";
import type { Engine, FrameText } from "../../src/engine/index.ts";
import { quiet, until } from "../support/clock.ts";
import { ANA, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";
import { gate } from "../support/gate.ts";

/** Reads frames until an offset, checking that none leaves a hole. */
async function readTo(
  frames: AsyncGenerator<readonly FrameText[], void, void>,
  from: string,
  to: () => string,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor = from;
  while (cursor < to()) {
    const { value, done } = await frames.next();
    if (done) break;
    for (const { text, after, last } of value) {
      const frame = JSON.parse(text) as Frame;
      expect(frame.after).toBe(cursor);
      expect(after).toBe(cursor);
      entries.push(...frame.entries);
      cursor = frame.entries.at(-1)?.offset ?? cursor;
      expect(last).toBe(cursor);
    }
  }
  return entries;
}

async function allEntries(engine: Engine, session: string): Promise<Entry[]> {
  return JSON.parse((await engine.page(session, undefined, 1_000_000)).entries) as Entry[];
}

test("catching up while others append, from any cursor, leaves no hole and repeats nothing", async () => {
  await using engine = startEngine();
  const { append, work } = await startAttempt(engine, "s");
  const count = (value: number) => append({ type: "CUSTOM", name: "n", value });
  for (let index = 0; index < 50; index += 1) await count(index);
  const begun = await allEntries(engine, "s");
  const cursors = [undefined, begun[0]?.offset, begun[20]?.offset, begun.at(-1)?.offset];

  let end = "~";
  const readers = cursors.map(async (after) => {
    const frames = await engine.subscribe("s", after);
    const from = after ?? `${work.offset.split(".")[0]}.00000000000`;
    const entries = await readTo(frames, from, () => end);
    await frames.return();
    return { after, entries };
  });
  for (let index = 50; index < 400; index += 4) {
    await Promise.all([0, 1, 2, 3].map((more) => count(index + more)));
  }
  end = (await engine.state("s")).offset;
  await count(-1); // so that a reader who is at the end already looks once more
  const all = await allEntries(engine, "s");
  for (const { after = "", entries } of await Promise.all(readers)) {
    const expected = all.filter(({ offset }) => offset > after);
    expect(entries).toEqual(expected.slice(0, entries.length));
    expect(entries.length).toBeGreaterThanOrEqual(expected.length - 1);
  }
});

test("a cursor inside a stored batch is a good cursor", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  await append(
    { type: "round.open" },
    { type: "CUSTOM", name: "a", value: 1 },
    { type: "CUSTOM", name: "b", value: 2 },
  );
  const all = await allEntries(engine, "s");
  const inside = all.at(-2)?.offset ?? "";
  const frames = await engine.subscribe("s", inside);
  const entries = await readTo(frames, inside, () => all.at(-1)?.offset ?? "");
  expect(entries).toEqual(all.slice(-1));
  const page = await engine.page("s", inside, 10);
  expect(JSON.parse(page.entries)).toEqual(all.slice(-1));
  await frames.return();
});

test("pages of any size make up the whole log", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  for (let index = 0; index < 7; index += 1) {
    await append(
      ...Array.from({ length: index }, (_, value) => ({
        type: "CUSTOM" as const,
        name: "n",
        value,
      })),
    );
  }
  const all = await allEntries(engine, "s");
  for (const limit of [1, 2, 3, 5, 100]) {
    const read: Entry[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await engine.page("s", after, limit);
      const entries = JSON.parse(page.entries) as Entry[];
      expect(entries.length).toBeLessThanOrEqual(limit);
      read.push(...entries);
      after = page.offset;
      if (page.upToDate) break;
      expect(entries.length).toBe(limit);
    }
    expect(read).toEqual(all);
  }
});

test("a reader who takes nothing is closed, hears so, and goes on from its cursor", async () => {
  await using engine = startEngine({ subscriberBytes: 2_000 });
  const { append } = await startAttempt(engine, "s");
  const { offset } = await engine.state("s");
  let slow = 0;
  const frames = await engine.subscribe("s", offset, { onSlow: () => (slow += 1) });
  const first = frames.next();
  await append({ type: "CUSTOM", name: "n", value: 0 });
  const { value } = await first;
  const cursor = value?.at(-1)?.last ?? "";
  for (let index = 1; index < 40; index += 1)
    await append({ type: "CUSTOM", name: "n", value: index });

  expect(slow).toBe(1);
  expect(await frames.next()).toEqual({ done: true, value: undefined });
  const again = await engine.subscribe("s", cursor);
  const head = (await engine.state("s")).offset;
  const entries = await readTo(again, cursor, () => head);
  expect(entries).toHaveLength(39);
  await again.return();
});

test("a commit is made a frame once, however many read it", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  const { offset } = await engine.state("s");
  const readers = await Promise.all([1, 2, 3].map(() => engine.subscribe("s", offset)));
  const live = readers.map((reader) => reader.next());
  await append({ type: "CUSTOM", name: "n", value: 1 });
  const frames = (await Promise.all(live)).map(({ value }) => value?.[0]);
  expect(frames[0]?.after).toBe(offset);
  for (const frame of frames) expect(frame).toBe(frames[0]);
  await Promise.all(readers.map((reader) => reader.return()));
});

test("a reader who lags behind does not hold up anybody else", async () => {
  await using engine = startEngine({ subscriberBytes: 1_000 });
  const { append } = await startAttempt(engine, "s");
  const { offset } = await engine.state("s");
  const lagging = await engine.subscribe("s", offset);
  const held = lagging.next();
  const reader = await engine.subscribe("s", offset);
  const seen: Entry[] = [];
  const reading = (async () => {
    for await (const frames of reader) {
      for (const { text } of frames) seen.push(...(JSON.parse(text) as Frame).entries);
      if (seen.length >= 60) break;
    }
  })();
  for (let value = 0; value < 60; value += 1) await append({ type: "CUSTOM", name: "n", value });
  await reading;
  expect(seen).toHaveLength(60);
  await held;
  await lagging.return();
});

test.each([
  ["of no epoch", "nonsense", "invalid_offset"],
  ["of another epoch", "zzzzzzzz.00000000001", "reset"],
  ["ahead of the log", "head+1", "reset"],
])("an offset %s is refused", async (_, given, code) => {
  await using engine = startEngine();
  const { session } = await engine.create("s", { agent: "demo" }, ANA);
  const [epoch = ""] = session.offset.split(".");
  const after = given === "head+1" ? `${epoch}.00000000999` : given;
  await expect(engine.page("s", after, 1)).rejects.toMatchObject({ code });
  await expect(engine.subscribe("s", after)).rejects.toMatchObject({ code });
});

test("aborting ends a stream that waits, and releases its session", async () => {
  await using engine = startEngine({ maxLoaded: 1 });
  const { session } = await engine.create("s", { agent: "demo" }, ANA);
  const abort = new AbortController();
  const frames = await engine.subscribe("s", session.offset, { signal: abort.signal });
  const next = frames.next();
  await quiet();
  abort.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test("joining after 10,000 deltas transfers the state, not the deltas", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  await append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
  for (let sent = 0; sent < 10_000; sent += 100) {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x" }),
      ),
    );
  }
  const { text, offset } = await engine.state("s");
  expect(text.length).toBeLessThan(10_000 + 2_000);
  const frames = await engine.subscribe("s", offset);
  const next = frames.next();
  await append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "!" });
  const { value } = await next;
  expect(value?.map(({ after }) => after)).toEqual([offset]);
  const [item] = (await stateOf(engine, "s")).items;
  expect(item).toMatchObject({ text: `${"x".repeat(10_000)}!`, status: "open" });
  await frames.return();
});

test("what a delta writes grows neither with the item nor with the session", async () => {
  const { storage, commits } = gate();
  await using engine = startEngine({ storage });
  const { append } = await startAttempt(engine, "s");
  for (let index = 0; index < 50; index += 1) {
    await append({ type: "CUSTOM", name: "n", value: "y".repeat(1000) });
  }
  await append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
  await append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "search" });
  const written = async (send: () => Promise<unknown>) => {
    const before = commits.length;
    await send();
    return JSON.stringify(commits.slice(before)).length;
  };
  const text = () => append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "hello " });
  const args = () => append({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "hello " });
  for (let warm = 0; warm < 10; warm += 1) await Promise.all([text(), args()]);
  const first = [await written(text), await written(args)];
  for (let index = 0; index < 2_000; index += 1) await Promise.all([text(), args()]);
  const last = [await written(text), await written(args)];
  // Sequence numbers gain digits, the content does not count.
  expect((last[0] ?? 0) - (first[0] ?? 0)).toBeLessThan(8);
  expect((last[1] ?? 0) - (first[1] ?? 0)).toBeLessThan(8);
});

test("a stream ends when the engine closes", async () => {
  const engine = startEngine();
  const { session } = await engine.create("s", { agent: "demo" }, ANA);
  const frames = await engine.subscribe("s", session.offset);
  let ended = false;
  void frames.next().then(({ done }) => (ended = done === true));
  await quiet();
  await engine.close();
  await until("it ended", () => ended);
  await expect(
    send(engine, "s", { type: "message.send", messageId: "m", content: "" }),
  ).rejects.toMatchObject({
    code: "overloaded",
  });
});
