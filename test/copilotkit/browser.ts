import type { BaseEvent, HttpAgent, ResumeEntry } from "@ag-ui/client";
import {
  CopilotKitCore,
  ProxiedCopilotRuntimeAgent,
  type CopilotKitCoreConfig,
} from "@copilotkit/core";
import { words } from "./words.ts";

interface Page {
  readonly agentId?: string;
  readonly headers?: Record<string, string>;
  /** How the runtime is mounted. */
  readonly transport?: "rest" | "single";
}

/** What CopilotKit's page does, without its page: its core and its agent, which speak to a runtime over HTTP. */
export function openBrowser(
  runtimeUrl: string,
  threadId: string,
  tools: NonNullable<CopilotKitCoreConfig["tools"]> = [],
  { agentId = "demo", headers = {}, transport = "rest" }: Page = {},
) {
  const agent = new ProxiedCopilotRuntimeAgent({
    runtimeUrl,
    threadId,
    agentId,
    transport,
    runtimeMode: "sse",
  } as ConstructorParameters<typeof ProxiedCopilotRuntimeAgent>[0]);
  const core = new CopilotKitCore({
    runtimeUrl,
    runtimeTransport: transport,
    tools,
    headers,
    agents__unsafe_dev_only: { [agentId]: agent },
  });
  agent.fetch = toItsEnd(agent.fetch);
  const events: BaseEvent[] = [];
  const errors: string[] = [];
  const wakes = new Set<() => void>();
  agent.subscribe({
    onEvent({ event }) {
      events.push(event);
      for (const wake of wakes) wake();
      wakes.clear();
    },
  });
  core.subscribe({ onError: ({ code, error }) => void errors.push(`${code}: ${error.message}`) });
  return {
    agent,
    events,
    /** What the core reported as failed. */
    errors,
    types: () => events.map(({ type }) => String(type)),
    /** Says something, and resolves when all that follows by itself is over. */
    async say(content: string) {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
      await core.runAgent({ agent });
    },
    async resume(resume: ResumeEntry[]) {
      await core.runAgent({ agent, resume });
    },
    /** Has the thread told, to where nothing is under way any more. */
    connect: () => core.connectAgent({ agent }),
    stop: () => core.stopAgent({ agent }),
    /** Goes away, as when its page is closed. */
    leave: () => agent.detachActiveRun(),
    /** Resolves once an event of a type has come. */
    async until(type: string) {
      while (!events.some((event) => String(event.type) === type)) {
        await new Promise<void>((resolve) => wakes.add(resolve));
      }
    },
    /** The messages, in words. */
    story: () => agent.messages.map(words),
  };
}

export type Browser = ReturnType<typeof openBrowser>;

/** A page outlives a connection that breaks. A Node process with its client does not, unless what breaks just ends. */
function toItsEnd(ask: HttpAgent["fetch"]): HttpAgent["fetch"] {
  return async (url, init) => {
    const response = await ask(url, init);
    const reader = response.body?.getReader();
    if (!reader) return response;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = await reader.read().catch(() => ({ value: undefined }));
        if (value) controller.enqueue(value);
        else controller.close();
      },
      cancel: (reason) => reader.cancel(reason).catch(() => {}),
    });
    return new Response(body, response);
  };
}
