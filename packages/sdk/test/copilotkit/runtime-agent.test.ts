import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { agentEvents, type RuntimeAgent } from "../../src/copilotkit/runtime-agent.ts";

const input: AgUiInput = {
  threadId: "t",
  runId: "r",
  protocolVersion: "1.0",
  state: { n: 1 },
  messages: [{ id: "u", role: "user", content: "Hi" }],
  tools: [],
  context: [],
  forwardedProps: { a: 1 },
  resume: [{ interruptId: "i", status: "cancelled" }],
};

type Emit = (type: string) => void | Promise<void>;

/** An agent that does as it is told, and notes what is done to it. */
function scripted(run: (emit: Emit, aborted: Promise<void>) => Promise<void>) {
  const given: Record<string, unknown> = {};
  const aborted = Promise.withResolvers<void>();
  let aborts = 0;
  const agent: RuntimeAgent = {
    threadId: "other",
    setMessages: (messages) => void (given["messages"] = messages),
    setState: (state) => void (given["state"] = state),
    async runAgent(parameters, subscriber) {
      given["parameters"] = parameters;
      await run((type) => subscriber.onEvent({ event: { type } }), aborted.promise);
    },
    abortRun() {
      aborts += 1;
      aborted.resolve();
    },
    clone: () => agent,
  };
  return { agent, given, aborts: () => aborts };
}

async function typesOf(stream: ReadableStream<unknown>): Promise<string[]> {
  const types: string[] = [];
  for await (const event of stream as unknown as AsyncIterable<{ type: string }>) {
    types.push(event.type);
  }
  return types;
}

it("has the agent run with all of the input, and gives its events", async () => {
  const { agent, given, aborts } = scripted(async (emit) => {
    await emit("A");
    await emit("B");
  });
  expect(await typesOf(agentEvents(agent, input))).toEqual(["A", "B"]);
  expect(agent.threadId).toBe("t");
  expect(given).toEqual({
    messages: input.messages,
    state: { n: 1 },
    parameters: {
      runId: "r",
      tools: [],
      context: [],
      forwardedProps: { a: 1 },
      resume: [{ interruptId: "i", status: "cancelled" }],
    },
  });
  expect(aborts()).toBe(0);
});

it("reads no faster than it is read", async () => {
  let emitted = 0;
  const { agent } = scripted(async (emit) => {
    for (; emitted < 100; emitted += 1) await emit("A");
  });
  const reader = agentEvents(agent, input).getReader();
  await reader.read();
  await reader.read();
  expect(emitted).toBeLessThan(5);
  await reader.cancel();
});

it("throws what the agent throws, after what it said", async () => {
  const { agent, aborts } = scripted(async (emit) => {
    await emit("A");
    throw new Error("No model.");
  });
  const reader = agentEvents(agent, input).getReader();
  expect((await reader.read()).value).toEqual({ type: "A" });
  await expect(reader.read()).rejects.toThrow("No model.");
  expect(aborts()).toBe(0);
});

it("tells the agent to stop when its reader leaves", async () => {
  const stopped = Promise.withResolvers<void>();
  const { agent, aborts } = scripted(async (emit, aborted) => {
    await emit("A");
    await aborted;
    await emit("B");
    stopped.resolve();
  });
  const reader = agentEvents(agent, input).getReader();
  await reader.read();
  await reader.cancel();
  await stopped.promise;
  expect(aborts()).toBe(1);
});
