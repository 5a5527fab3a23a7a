import type { Entry, Frame } from "@holdfast/protocol";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect, test } from "vitest";
import { gate } from "../../packages/server/test/support/gate.ts";
import { openHouse, type House } from "./support.ts";

test("C59: what was only enqueued is not called applied", async () => {
  await using house = await openHouse();
  await house.send("go");
  const verdict = await house.bo.command(house.session, {
    type: "call.answer",
    callId: "nope",
    outcome: "ok",
    answer: { type: "text", text: "x" },
  });
  expect(verdict).toMatchObject({
    status: "rejected",
    error: { code: "unknown_call", details: { pending: [] } },
  });
  const sent = await house.bo.command(house.session, {
    type: "message.send",
    messageId: "m2",
    content: "more",
  });
  const entries = await house.ana.entries(house.session);
  // `applied` names an offset at which it holds.
  expect(
    entries.find(({ event }) => event.type === "message.added" && event.messageId === "m2")?.offset,
  ).toBeDefined();
  expect(sent.offset >= (entries.at(-1)?.offset ?? "")).toBe(true);
});

test("C59: a command that is decided but not yet durable has no verdict", async () => {
  const { storage, hold, release, waiting } = gate();
  await using house = await openHouse({ storage });
  await house.send("go");
  hold();
  let answered = false;
  const verdict = house.bo.command(house.session, {
    type: "message.send",
    messageId: "m2",
    content: "more",
  });
  void verdict.then(() => (answered = true));
  await expect.poll(waiting).toBe(1);
  // Time enough for an answer that waits for nothing: the log's own, asked for later, comes first.
  const entries = await house.ana.entries(house.session);
  expect(JSON.stringify(entries)).not.toContain('"m2"');
  expect(answered).toBe(false);
  release();
  expect(await verdict).toMatchObject({ status: "applied" });
  expect(JSON.stringify(await house.ana.entries(house.session))).toContain('"m2"');
});

test("C65: a reader that lost the end finds it in the log", async () => {
  await using house = await openHouse();
  const runId = await house.send("go");
  const attempt = await house.attempt();
  const reader = await follow(house);
  await reader.until((entry) => entry.event.type === "attempt.started");
  await reader.leave(); // before the end
  await attempt.finish();
  const again = await follow(house, reader.cursor());
  const entries = await again.until((entry) => entry.event.type === "run.ended");
  expect(entries.at(-1)).toMatchObject({ runId, event: { outcome: "complete" } });
  await again.leave();
});

test("C73: a message that was taken but not begun is in the state a reader joins", async () => {
  await using house = await openHouse();
  const runId = await house.send("go");
  const { offset, state } = await house.bo.state(house.session);
  expect(state.runs).toMatchObject([{ id: runId, status: "queued" }]);
  const reader = await follow(house, offset);
  await house.attempt();
  const entries = await reader.until((entry) => entry.event.type === "attempt.started");
  expect(entries.map(({ event }) => event.type)).toEqual(["attempt.started"]);
  await reader.leave();
});

/** Bo's stream from a cursor. */
async function follow(house: House, after?: string) {
  const { stop, frames } = await house.bo.stream(house.session, after);
  const reader = frames.pipeThrough(new EventSourceParserStream()).getReader();
  let cursor = after;
  return {
    cursor: () => cursor,
    async until(wanted: (entry: Entry) => boolean): Promise<Entry[]> {
      const seen: Entry[] = [];
      while (!seen.some(wanted)) {
        const { value, done } = await reader.read();
        if (done) throw new Error("The stream ended.");
        cursor = value.id ?? cursor;
        seen.push(...(JSON.parse(value.data) as Frame).entries);
      }
      return seen;
    },
    async leave() {
      stop();
      await reader.cancel().catch(() => undefined); // it was just cut off
    },
  };
}
