import { isStepCount, streamText, tool, toUIMessageStream } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { scriptedModel } from "@holdfast/sdk/testing";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab } from "../support/lab.ts";

test.each([
  ["signed by its framework", { experimental_toolApprovalSecret: "s".repeat(32) }],
  ["unsigned", {}],
])(
  "C39: a request %s needs its id alone to run once, also where its provider counts calls anew",
  async (_, secret) => {
    await using lab = await openLab();
    const paid: string[] = [];
    const pay = tool({
      inputSchema: z.object({ to: z.string().transform((to) => `${to}!`) }),
      execute: async ({ to }) => paid.push(to),
    });
    /** Pays twice for every message, one after the other, and begins to count in every request. */
    const left: string[] = [];
    /** The ids of the calls in each history. */
    const sent: string[][] = [];
    const model = scriptedModel({
      respond(prompt) {
        if (lastOf(prompt).role === "user") left.push("first", "second");
        const to = left.shift();
        return to === undefined
          ? [{ type: "text", text: "paid" }]
          : [{ type: "tool-call", toolName: "pay", toolCallId: "pay:0", input: { to } }];
      },
    });
    await using agent = await startAgent(lab, {
      respond: () => [],
      tools: { pay },
      policies: { pay: { approval: "always" } },
      worker: {
        async handler(run) {
          const messages = await run.history();
          const ids = messages.flatMap(({ content }) =>
            typeof content === "string"
              ? []
              : content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])),
          );
          sent.push(ids);
          const { stream } = streamText({
            model,
            ...run.tools(),
            ...secret,
            messages,
            abortSignal: run.signal,
            stopWhen: isStepCount(5),
            onError: () => {},
          });
          await run.pipe(toUIMessageStream({ stream, onError: String }));
        },
      },
    });
    const session = await lab.session();
    const runs = [];
    for (const _message of [1, 2]) {
      const runId = await lab.send(session, "pay");
      for (const _call of [1, 2]) {
        const { id: callId, approval } = await lab.until(session, (state) => {
          const gated = [...state.calls.values()].find(({ status }) => status === "gated");
          return state.runs.get(runId)?.status === "suspended" && gated;
        });
        expect(approval?.signed ?? false).toBe("experimental_toolApprovalSecret" in secret);
        const named = { callId, approvalId: approval?.id ?? "" };
        await lab.command(session, { type: "call.decide", ...named, approved: true });
      }
      runs.push(await lab.until(session, ended(runId)));
    }
    expect(paid).toEqual(["first!", "second!", "first!", "second!"]);
    expect(runs.map(({ run }) => [run.outcome, run.attempt, run.error])).toEqual([
      ["complete", 3, undefined],
      ["complete", 3, undefined],
    ]);
    const calls = [...(runs[1]?.state.calls.values() ?? [])];
    expect(calls.map(({ outcome, answer }) => [outcome, answer?.answer])).toEqual(
      [1, 2, 3, 4].map((value) => ["ok", { type: "json", value }]),
    );
    expect(sent.map((ids) => new Set(ids).size)).toEqual([0, 1, 2, 2, 3, 4]);
    expect(agent.refused).toEqual([]);
    expect(agent.errors).toEqual([]);
  },
);

test("what was approved is not what another call of its id executes, when nobody took it up", async () => {
  await using lab = await openLab();
  const paid: string[] = [];
  const pay = tool({
    inputSchema: z.object({ to: z.string() }),
    execute: async ({ to }) => paid.push(to),
  });
  const model = scriptedModel({
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "done" }]
        : [
            {
              type: "tool-call",
              toolName: "pay",
              toolCallId: "pay:0",
              input: { to: lastOf(prompt).text },
            },
          ],
  });
  await using agent = await startAgent(lab, {
    respond: () => [],
    tools: { pay },
    policies: { pay: { approval: "always" } },
    worker: {
      async handler(run) {
        const { stream } = streamText({
          model,
          tools: run.tools().tools,
          toolApproval: run.attempt === 1 ? run.tools().toolApproval : {},
          // A history of its own making, in which nothing was approved, and then no wish to ask.
          messages: [{ role: "user", content: run.attempt === 1 ? "ana" : "mallory" }],
          stopWhen: isStepCount(2),
          onError: () => {},
        });
        await run.pipe(toUIMessageStream({ stream, onError: String }));
      },
    },
  });
  const session = await lab.session();
  const runId = await lab.send(session, "pay");
  const { id: callId, approval } = await lab.until(session, (state) => {
    const gated = [...state.calls.values()].find(({ status }) => status === "gated");
    return state.runs.get(runId)?.status === "suspended" && gated;
  });
  const named = { callId, approvalId: approval?.id ?? "" };
  await lab.command(session, { type: "call.decide", ...named, approved: true });
  await lab.until(
    session,
    (state) =>
      (state.runs.get(runId)?.attempt ?? 0) > 1 && state.runs.get(runId)?.status !== "active",
  );
  expect(paid).toEqual([]);
  expect(agent.errors).toEqual([]);
});
