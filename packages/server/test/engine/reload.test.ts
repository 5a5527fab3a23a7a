import type { Actor, AgentItem, CommandBody, Fence } from "@holdfast/protocol";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ANA, DEMO, send, sorted, startAttempt, startEngine, stateOf } from "../support/engine.ts";

/** One thing that happens in a session; ids are small so that things meet. */
const happening = fc.oneof(
  { weight: 16, arbitrary: appending() },
  { weight: 4, arbitrary: fc.record({ what: fc.constant("reload" as const) }) },
  fc.record({ what: fc.constant("message" as const), id: fc.nat(5) }),
  fc.record({ what: fc.constant("work" as const) }),
  fc.record({ what: fc.constant("finish" as const) }),
  fc.record({ what: fc.constant("call" as const), id: fc.nat(2), how: fc.nat(5) }),
  fc.record({ what: fc.constant("cancel" as const) }),
);

function appending() {
  return fc.record({
    what: fc.constant("append" as const),
    items: fc.array(item(), { minLength: 1, maxLength: 6 }),
  });
}

function item(): fc.Arbitrary<AgentItem> {
  const id = fc.nat(1).map((it) => `x${it}`);
  return fc.oneof(
    fc.constantFrom<AgentItem>(
      { type: "round.open" },
      { type: "round.close" },
      { type: "round.withdraw" },
    ),
    id.map((messageId) => ({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }) as const),
    fc
      .tuple(id, fc.string())
      .map(([messageId, delta]) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta }) as const),
    id.map((messageId) => ({ type: "TEXT_MESSAGE_END", messageId }) as const),
    fc
      .tuple(id, fc.constantFrom("locate", "pay", "weather"))
      .map(
        ([toolCallId, toolCallName]) =>
          ({ type: "TOOL_CALL_START", toolCallId, toolCallName }) as const,
      ),
    fc
      .tuple(id, fc.constantFrom("{", '"a":1', "}", "{}"))
      .map(([toolCallId, delta]) => ({ type: "TOOL_CALL_ARGS", toolCallId, delta }) as const),
    id.map((toolCallId) => ({ type: "TOOL_CALL_END", toolCallId }) as const),
    fc.jsonValue().map((value) => ({ type: "CUSTOM", name: "n", value }) as const),
  );
}

test("a session loaded from storage, at any moment, is the one that was live", async () => {
  let reloads = 0;
  const open = { text: 0, arguments: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 60 }), async (then) => {
      const happenings: typeof then = [{ what: "message", id: 0 }, { what: "work" }, ...then];
      const storage = memoryStorage();
      let engine = startEngine({ storage });
      await engine.create("s", { agent: "demo" }, ANA);
      await send(engine, "s", {
        type: "tools.advertise",
        tools: [{ name: "locate", executor: "client" }],
      });
      let attempt: { actor: Actor; runId: string; attempt: number; seq: number } | undefined;
      const agent = (body: (fence: Fence) => CommandBody) => {
        if (!attempt) return undefined;
        const { runId, attempt: number, actor } = attempt;
        const fence = { runId, attempt: number, producer: "p", seq: (attempt.seq += 1) };
        return send(engine, "s", body(fence), actor);
      };
      for (const it of happenings) {
        switch (it.what) {
          case "message":
            await send(engine, "s", {
              type: "message.send",
              messageId: `m${it.id}`,
              content: "hi",
            });
            break;
          case "work": {
            const work = await engine.claimWork(
              {
                agent: "demo",
                worker: "w",
                tools: [{ name: "pay", sideEffects: true }, { name: "weather" }],
              },
              DEMO,
            );
            if (!work) break;
            const { runId, attempt: number } = work;
            const actor = { ...DEMO, attempt: { runId, attempt: number } };
            attempt = { actor, runId, attempt: number, seq: 0 };
            break;
          }
          case "append":
            await agent(
              (fence) => ({ type: "run.append", ...fence, items: it.items }) as CommandBody,
            );
            break;
          case "finish":
            await agent((fence) => ({ type: "run.finish", ...fence }));
            break;
          case "call":
            await send(engine, "s", callCommand(`x${it.id}`, it.how));
            break;
          case "cancel":
            if (attempt) await send(engine, "s", { type: "run.cancel", runId: attempt.runId });
            break;
          case "reload": {
            const live = await stateOf(engine, "s");
            await engine.close();
            engine = startEngine({ storage });
            expect(sorted(await stateOf(engine, "s"))).toEqual(sorted(live));
            reloads += 1;
            if (live.items.some((row) => row.kind === "text" && row.status === "open" && row.text))
              open.text += 1;
            if (live.calls.some((call) => call.status === "streaming" && call.arguments))
              open.arguments += 1;
          }
        }
      }
      const live = await stateOf(engine, "s");
      const offset = (await engine.state("s")).offset;
      await engine.close();
      await using reloaded = startEngine({ storage });
      expect(sorted(await stateOf(reloaded, "s"))).toEqual(sorted(live));
      expect((await reloaded.state("s")).offset).toBe(offset);
    }),
    { numRuns: 150 },
  );
  expect(reloads).toBeGreaterThan(50);
  expect(open.text, "reloads while a text was open").toBeGreaterThan(5);
  expect(open.arguments, "reloads while arguments were streaming").toBeGreaterThan(5);
});

test("a load reads no more of an open item than half of it", async () => {
  const inner = memoryStorage();
  let read = 0;
  const storage = {
    ...inner,
    async entries(session: string, after: string, maxBytes: number) {
      const batches = await inner.entries(session, after, maxBytes);
      for (const { json } of batches) read += json.length;
      return batches;
    },
  };
  const engine = startEngine({ storage });
  const { append } = await startAttempt(engine, "s");
  await append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
  await append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" });
  const delta = "x".repeat(1_000);
  for (let kilobytes = 0; kilobytes < 400; kilobytes += 1) {
    await append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta });
    await append({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta });
  }
  await engine.close(); // which signs the audit, and reads the log for that
  read = 0;
  await using again = startEngine({ storage });
  const { items, calls } = await stateOf(again, "s");
  expect(items).toMatchObject([{ text: delta.repeat(400) }]);
  expect(calls).toMatchObject([{ arguments: delta.repeat(400) }]);
  // Both items' deltas since they passed 256 KiB, and what an entry says beside its delta.
  expect(read).toBeLessThan(2 * (400_000 - 256 * 1_024) * 1.5);
});

function callCommand(callId: string, how: number): CommandBody {
  switch (how) {
    case 0:
      return { type: "call.claim", callId };
    case 1:
      return { type: "call.cancel", callId };
    case 2:
      return { type: "call.answer", callId, outcome: "ok", answer: { type: "json", value: 0 } };
    case 3:
      return { type: "call.decide", callId, approved: true, digest: "none" };
    case 4:
      return { type: "call.progress", callId, progress: 1 };
    default:
      return { type: "call.claim", callId, force: true };
  }
}
