import type { Frame } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { until } from "../support/clock.ts";
import { ANA, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";
import { gate } from "../support/gate.ts";

test("while a commit is held, no verdict, no frame, no state and no page shows it", async () => {
  const { storage, hold, release, waiting } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const before = (await engine.state("s")).offset;
  const frames = await engine.subscribe("s", before);
  const seen: string[] = [];

  hold();
  const verdict = send(engine, "s", { type: "message.send", messageId: "m1", content: "hi" });
  void verdict.then(() => seen.push("verdict"));
  void frames.next().then(() => seen.push("frame"));
  void engine.state("s").then(() => seen.push("state"));
  await until("the commit is held", () => waiting() === 1);
  // A refusal would tell of the message, too: it says that the id is taken.
  const refused = send(engine, "s", { type: "message.send", messageId: "m1", content: "no" });
  void refused.then(() => seen.push("refusal"));
  const page = await engine.page("s", undefined, 100);
  expect(page.offset).toBe(before);
  expect(seen).toEqual([]);

  release();
  expect(await verdict).toMatchObject({ status: "applied" });
  expect(await refused).toMatchObject({ status: "rejected", error: { code: "message_exists" } });
  await until("all have heard", () => seen.length === 4);
});

test("what comes while a commit is in flight becomes one commit", async () => {
  const { storage, commits, hold, release, waiting } = gate();
  await using engine = startEngine({ storage });
  const attempt = await startAttempt(engine, "s");
  await attempt.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
  const before = commits.length;

  hold();
  const deltas = ["a", "b", "c", "d"].map((delta) =>
    attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta }),
  );
  await until("the first is held", () => waiting() === 1);
  release();
  const verdicts = await Promise.all(deltas);

  expect(verdicts.map(({ status }) => status)).toEqual(Array(4).fill("applied"));
  const written = commits.slice(before).map(({ batch }) => JSON.parse(batch?.json ?? "[]"));
  expect(written.flat().map(({ event }) => event.delta)).toEqual(["abcd"]);
});

test("deltas that arrive during a commit travel as they are stored", async () => {
  const { storage, commits, hold, release, waiting } = gate();
  await using engine = startEngine({ storage });
  const attempt = await startAttempt(engine, "s");
  const { offset } = await attempt.append({
    type: "TEXT_MESSAGE_START",
    messageId: "t",
    role: "assistant",
  });
  const frames = await engine.subscribe("s", offset);
  const before = commits.length;
  const live = frames.next();

  hold();
  const first = attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "a" });
  await until("the first is held", () => waiting() === 1);
  const rest = ["b", "c"].map((delta) =>
    attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta }),
  );
  release();
  await Promise.all([first, ...rest]);

  const read = [...((await live).value ?? []), ...((await frames.next()).value ?? [])].map(
    ({ text }) => JSON.parse(text) as Frame,
  );
  await frames.return();
  const stored = commits.slice(before).map(({ batch }) => ({
    after: batch?.after,
    entries: JSON.parse(batch?.json ?? "[]"),
  }));
  expect(read).toEqual(stored);
  expect(stored.map(({ entries }) => entries[0].event.delta)).toEqual(["a", "bc"]);
});

test("a failed commit refuses everyone who built on it, ends the streams, and storage decides what holds", async () => {
  const { storage, hold, release, waiting, failNext } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const head = (await engine.state("s")).offset;
  const frames = await engine.subscribe("s", head);
  const ended = frames.next();

  failNext();
  const refused = await Promise.allSettled([
    send(engine, "s", { type: "message.send", messageId: "m1", content: "lost" }),
    send(engine, "s", { type: "message.send", messageId: "m2", content: "lost too" }),
    engine.state("s"),
  ]);
  expect(refused.map((result) => result.status === "rejected" && result.reason.code)).toEqual(
    Array(3).fill("internal"),
  );
  expect(await ended).toEqual({ done: true, value: undefined });

  expect(await stateOf(engine, "s")).toMatchObject({ messages: [], runs: [] });
  expect((await engine.state("s")).offset).toBe(head);
  const again = await send(engine, "s", { type: "message.send", messageId: "m1", content: "kept" });
  expect(again.status).toBe("applied");
  // The cursor is still good: everything after it comes, once.
  const resumed = await engine.subscribe("s", head);
  const { value } = await resumed.next();
  expect(value?.map(({ after }) => after)).toEqual([head]);
  await resumed.return();
  hold();
  void send(engine, "s", { type: "message.send", messageId: "m3", content: "held" });
  await until("it is held", () => waiting() === 1);
  release();
});

test("a failed commit of one session leaves the others alone", async () => {
  const { storage, failNext } = gate();
  await using engine = startEngine({ storage });
  await engine.create("a", { agent: "demo" }, ANA);
  await engine.create("b", { agent: "demo" }, ANA);
  failNext();
  const [a, b] = await Promise.allSettled([
    send(engine, "a", { type: "message.send", messageId: "m", content: "x" }),
    send(engine, "b", { type: "message.send", messageId: "m", content: "x" }),
  ]);
  expect([a.status, b.status]).toEqual(["rejected", "fulfilled"]);
});

test("after a conflict, commands are decided again, in order, on what storage has", async () => {
  const { storage, conflictNext } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  conflictNext();
  const verdicts = await engine.submit(
    "s",
    ["m1", "m2"].map((messageId) => ({
      id: messageId,
      type: "message.send" as const,
      messageId,
      content: messageId,
    })),
    ANA,
  );
  expect(verdicts.map(({ status }) => status)).toEqual(["applied", "applied"]);
  const { messages } = await stateOf(engine, "s");
  expect(messages.map(({ id }) => id)).toEqual(["m1", "m2"]);
});

test("sessions made twice at once are made once", async () => {
  await using engine = startEngine();
  const made = await Promise.all(
    Array.from({ length: 5 }, () => engine.create("s", { agent: "demo" }, ANA)),
  );
  expect(made.filter(({ created }) => created)).toHaveLength(1);
  expect(new Set(made.map(({ session }) => session.offset)).size).toBe(1);
});

test("a deleted session is unknown, its readers' streams end, and made again it has another epoch", async () => {
  await using engine = startEngine();
  const { session } = await engine.create("s", { agent: "demo" }, ANA);
  const frames = await engine.subscribe("s", session.offset);
  const ended = frames.next();
  await engine.delete("s");
  expect(await ended).toEqual({ done: true, value: undefined });
  await expect(engine.state("s")).rejects.toMatchObject({ code: "unknown_session" });
  const again = await engine.create("s", { agent: "demo" }, ANA);
  expect(again.created).toBe(true);
  await expect(engine.page("s", session.offset, 1)).rejects.toMatchObject({ code: "reset" });
});

test("idle sessions are forgotten and come back as they were", async () => {
  await using engine = startEngine({ maxLoaded: 2 });
  for (const id of ["a", "b", "c", "d"]) {
    await engine.create(id, { agent: "demo" }, ANA);
    await send(engine, id, { type: "message.send", messageId: `m-${id}`, content: id });
  }
  for (const id of ["a", "b", "c", "d"]) {
    const { messages } = await stateOf(engine, id);
    expect(messages.map((message) => message.id)).toEqual([`m-${id}`]);
  }
});

test("a session whose reader listens is not forgotten", async () => {
  await using engine = startEngine({ maxLoaded: 1 });
  const { session } = await engine.create("s", { agent: "demo" }, ANA);
  const frames = await engine.subscribe("s", session.offset);
  const next = frames.next();
  for (const id of ["a", "b", "c"]) await engine.create(id, { agent: "demo" }, ANA);
  await send(engine, "s", { type: "message.send", messageId: "m", content: "x" });
  expect((await next).done).toBe(false);
  await frames.return();
});
