import type { AgUiInput } from "@holdfast/protocol/ag-ui";

/** What is used of an agent of CopilotKit's runtime: any `AbstractAgent` of `@ag-ui/client` has it. */
export interface RuntimeAgent {
  agentId?: string;
  threadId: string;
  /** Where it is asked, for agents that are elsewhere. */
  readonly url?: string;
  setMessages(messages: unknown[]): void;
  setState(state: unknown): void;
  runAgent(parameters: object, subscriber: RuntimeSubscriber): Promise<unknown>;
  abortRun(): void;
  clone(): unknown;
}

interface RuntimeSubscriber {
  onEvent(told: { readonly event: { readonly type: string } }): void | Promise<void>;
}

/**
 * Runs an agent with an input, and gives its events as they come, no faster than they are read. The agent is the
 * caller's own meanwhile. Cancelled, it is told to stop; what it throws, the stream does.
 */
export function agentEvents(agent: RuntimeAgent, input: AgUiInput): ReadableStream<unknown> {
  const { threadId, messages, state, protocolVersion: _, ...parameters } = input;
  const { readable, writable } = new TransformStream<unknown, unknown>();
  const writer = writable.getWriter();
  let isOver = false;
  // Its reader left before its end.
  writer.closed.catch(() => {
    if (!isOver) agent.abortRun();
  });
  async function run(): Promise<void> {
    try {
      agent.threadId = threadId;
      agent.setMessages([...messages]);
      agent.setState(state);
      // Whoever left hears of it in `closed`; the agent goes on until it stops.
      await agent.runAgent(parameters, {
        onEvent: ({ event }) => writer.write(event).catch(() => {}),
      });
      isOver = true;
      await writer.close();
    } catch (error) {
      isOver = true;
      await writer.abort(error);
    }
  }
  run().catch(() => {}); // nobody reads any more
  return readable;
}
