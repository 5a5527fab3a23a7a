import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { AgentItem } from "@holdfast/protocol";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab } from "../support/lab.ts";
import { createNetwork } from "../support/network.ts";

const start: AgentItem = { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" };
const end: AgentItem = { type: "TEXT_MESSAGE_END", messageId: "m1" };
const content = (delta: string): AgentItem => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId: "m1",
  delta,
});

test("what gathers while a request is under way goes together in the next, in order", async () => {
  await using lab = await openLab();
  const network = createNetwork();
  const text = Array.from({ length: 2_000 }, (_, i) => `${i} `);
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      fetch: network.fetch,
      async handler(run) {
        void run.append([start]);
        for (const each of text) {
          void run.append([content(each)]);
          if (each.endsWith("00 ")) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await run.append([end]);
      },
    },
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "count")));
  expect(done.text).toBe(text.join(""));
  const batches = network.requests.filter(({ body }) => body.includes("run.append"));
  expect(batches.length).toBeLessThan(text.length / 10);
  expect(agent.refused).toEqual([]);
});

test("an item that is refused does not take its neighbours down, and whoever sent it hears why", async () => {
  await using lab = await openLab();
  const refusals: unknown[] = [];
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      async handler(run) {
        const heard = (error: unknown) => void refusals.push(error);
        void run.append([start, content("a")]);
        void run.append([content("x".repeat(2_000_000))]).catch(heard);
        void run.append([{ ...end, messageId: "nobody" }]).catch(heard);
        void run.append([content("b")]);
        await run.append([end]);
      },
    },
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "go")));
  expect(done.run.outcome).toBe("complete");
  expect(done.text).toBe("ab");
  expect(refusals).toMatchObject([{ code: "too_large" }, { code: "sequence_violation" }]);
  expect(agent.refused).toHaveLength(2);
});

test("an answer that is too large settles its call as an error with its beginning", async () => {
  await using lab = await openLab();
  const dump = tool({
    description: "Dumps",
    inputSchema: z.object({}),
    execute: async () => ({ rows: "x".repeat(2_000_000) }),
  });
  await using agent = await startAgent(lab, {
    tools: { dump },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "done" }]
        : [{ type: "tool-call", toolName: "dump", toolCallId: "c1", input: {} }],
  });
  const session = await lab.session();
  const { run, state } = await lab.until(session, ended(await lab.send(session, "dump")));
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  const call = state.calls.get("c1");
  expect(call?.outcome).toBe("error");
  expect(call?.answer?.answer).toMatchObject({ text: expect.stringContaining("too large") });
  expect(JSON.stringify(call).length).toBeLessThan(10_000);
  expect(agent.active).toBeLessThanOrEqual(1);
});

test("a stream is read no faster than the log takes it", async () => {
  await using lab = await openLab();
  const network = createNetwork();
  let read = 0;
  const delta = "x".repeat(8_000);
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      fetch: network.fetch,
      async handler(run) {
        network.cut();
        const piped = run.pipe(
          (async function* () {
            yield { type: "text-start" as const, id: "t" };
            for (; read < 500; read += 1) yield { type: "text-delta" as const, id: "t", delta };
            yield { type: "text-end" as const, id: "t" };
          })(),
        );
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(read).toBeGreaterThan(50);
        expect(read).toBeLessThan(200);
        network.mend();
        await piped;
      },
    },
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "go")));
  expect(done.run.error).toBeUndefined();
  expect(done.text).toHaveLength(500 * delta.length);
  expect(agent.refused).toEqual([]);
});
