import { isStepCount, streamText, tool, toUIMessageStream } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { SessionState } from "@holdfast/protocol";
import { scriptedModel, type ScriptedPart } from "@holdfast/sdk/testing";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab, type Lab } from "../support/lab.ts";

/** An agent that takes up what steers it, as people write one. */
async function startSteered(
  lab: Lab,
  respond: (said: string, request: number) => Promise<readonly ScriptedPart[]>,
  execute: () => Promise<string>,
) {
  const prompts: string[][] = [];
  const heard: string[] = [];
  const model = scriptedModel({
    respond(prompt) {
      prompts.push(
        prompt.filter(({ role }) => role === "user").map((message) => lastOf([message]).text),
      );
      return respond(lastOf(prompt).text, prompts.length);
    },
  });
  const look = tool({ inputSchema: z.object({}), execute });
  const agent = await startAgent(lab, {
    respond: () => [],
    tools: { look },
    worker: {
      async handler(run) {
        run.onSteer(({ id }) => heard.push(id));
        const result = streamText({
          model,
          ...run.tools(),
          messages: await run.history(),
          experimental_steering: await run.steering(),
          abortSignal: run.signal,
          stopWhen: isStepCount(5),
          onError: () => {},
        });
        await run.pipe(toUIMessageStream({ stream: result.stream, onError: String }));
        heard.push(run.hasInput() ? "more" : "none");
      },
    },
  });
  return { agent, prompts, heard };
}

const steer = (lab: Lab, session: string, messageId: string, content: string) =>
  lab.command(session, { type: "message.send", messageId, content, whileActive: "steer" });

/** Where a message was read: in which round, or that it was not. */
function readIn(state: SessionState, runId: string, messageId: string) {
  const steered = state.runs.get(runId)?.steers?.find((it) => it.messageId === messageId);
  return { consumed: steered?.consumed, round: state.items.get(`steer:${messageId}`)?.round };
}

test("a message that steers a run is in its next model request", async () => {
  await using lab = await openLab();
  const session = await lab.session();
  const { agent, prompts, heard } = await startSteered(
    lab,
    async (said, request) =>
      request === 1
        ? [{ type: "tool-call", toolName: "look", toolCallId: "c1", input: {} }]
        : [{ type: "text", text: `last: ${said}` }],
    async () => {
      const verdict = await steer(lab, session, "m2", "in Bern");
      expect(verdict.runId).toBeDefined();
      await expect.poll(() => heard).toContain("m2");
      return "fine";
    },
  );
  await using _ = agent;
  const runId = await lab.send(session, "weather?");
  const { state, run, text } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(prompts).toEqual([["weather?"], ["weather?", "in Bern"]]);
  expect(text).toBe("last: in Bern");
  expect(readIn(state, runId, "m2")).toEqual({ consumed: true, round: 2 });
  expect(heard).toEqual(["m2", "none"]);
  // The library's own note of it is not kept a second time.
  expect([...state.items.values()].filter(({ kind }) => kind === "event")).not.toContainEqual(
    expect.objectContaining({
      event: expect.objectContaining({ name: "ai-sdk.steering-message" }),
    }),
  );
  expect(agent.errors).toEqual([]);
  expect(agent.refused).toEqual([]);
});

test("a message that comes after the last request is read by the next attempt, not taken for read", async () => {
  await using lab = await openLab();
  const session = await lab.session();
  let requests = 0;
  const model = scriptedModel({
    async respond(prompt) {
      requests += 1;
      if (requests === 1) await steer(lab, session, "m2", "too late");
      return [{ type: "text", text: `${requests}: ${lastOf(prompt).text}` }];
    },
  });
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      // Without the library's steering: its only request is made before the message is there.
      async handler(run) {
        const { stream } = streamText({ model, messages: await run.history() });
        await run.pipe(toUIMessageStream({ stream }));
        // The first knows that there is more to read, and ends all the same.
        await expect.poll(() => run.hasInput()).toBe(run.attempt === 1);
      },
    },
  });
  const runId = await lab.send(session, "go");
  const { state, run } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
  expect(readIn(state, runId, "m2")).toEqual({ consumed: true, round: 2 });
  expect(agent.errors).toEqual([]);
});

test("a generation that would have ended goes on for what was sent meanwhile", async () => {
  await using lab = await openLab();
  const session = await lab.session();
  const { agent, prompts, heard } = await startSteered(
    lab,
    async (_, request) => {
      if (request > 1) return [{ type: "text", text: "five" }];
      await steer(lab, session, "m2", "go on");
      await expect.poll(() => heard).toContain("m2");
      return [{ type: "text", text: "one two three four" }];
    },
    async () => "",
  );
  await using _ = agent;
  const runId = await lab.send(session, "count");
  const { state, run } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(prompts.at(-1)).toEqual(["count", "go on"]);
  expect(prompts).toHaveLength(2);
  expect(readIn(state, runId, "m2")).toEqual({ consumed: true, round: 2 });
  expect(agent.errors).toEqual([]);
});
