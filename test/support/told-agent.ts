import { pathTo, type AgentItem, type Codec } from "@holdfast/protocol";
import { worker, type Run } from "@holdfast/sdk/agent";
import { tool } from "ai";
import { z } from "zod";

/** Its handler appends items as they are. */
const plain: Codec<AgentItem, undefined> = {
  name: "plain",
  encoder: () => ({ encode: (item) => [item], failure: undefined }),
  history: () => Promise.resolve(undefined),
};

/** An agent of agent `demo`, Holdfast's own, that does as it is told by its user. */
export function startAgent({ url, token }: { readonly url: string; readonly token: string }) {
  const executed: string[] = [];
  const held = new Map<string, PromiseWithResolvers<void>>();
  const holdOf = (session: string) => {
    const hold = held.get(session) ?? Promise.withResolvers<void>();
    held.set(session, hold);
    return hold;
  };
  const tools = {
    pay: tool({
      description: "Pays.",
      inputSchema: z.object({}),
      execute: () => (executed.push("pay"), "paid"),
    }),
  };

  async function handler(run: Run<AgentItem, undefined, typeof tools>): Promise<void> {
    const asking = pathTo(run.state, run.id).findLast((node) => run.state.messages.has(node));
    const { content } = run.state.messages.get(asking ?? "") ?? {};
    const said = typeof content === "string" ? content : "?";
    const id = `${run.id}:${run.attempt}`;
    const [left] = run.calls({ state: "open" }).filter(({ executor }) => executor === "agent");
    const [settled] = run.calls({ state: "settled" });
    if (left) {
      const { pay } = run.tools().tools;
      const paid = await pay.execute?.({}, { toolCallId: left.id, messages: [], context: {} });
      await run.answer(left.id, typeof paid === "string" ? paid : null);
      return run.append(round(...text(id, ["It is paid."])));
    }
    if (settled?.name === "pay") return run.append(round(...text(id, ["It is not paid."])));
    if (settled) {
      const { answer } = settled.answer ?? {};
      const words = answer?.type === "text" ? answer.text : JSON.stringify(answer);
      return run.append(round(...text(id, [`You said ${words}.`])));
    }
    if (said === "pay" || said === "page" || said === "confirm")
      return run.append(round(...call(`${id}:c`, said)));
    if (said === "linger") {
      await run.append(round(...call(`${id}:c`, "page")));
      return Promise.race([holdOf(run.session).promise, aborted(run.signal)]);
    }
    if (said !== "long") return run.append(round(...text(id, [`Hello, ${said}.`])));
    const [start, one, two, end] = text(id, ["One.", " Two."]);
    if (!start || !one || !two || !end) return;
    await run.append([{ type: "round.open" }, start, one]);
    await Promise.race([holdOf(run.session).promise, aborted(run.signal)]);
    await run.append([two, end, { type: "round.close" }]);
  }

  const started = worker({
    url,
    token,
    agent: "demo",
    codec: plain,
    tools,
    handler,
    policies: { pay: { approval: "always" } },
    backoff: { baseMs: 10, maxMs: 100 },
    onError: () => {},
  });
  return Object.assign(started, {
    /** Every execution of a tool. */
    executed,
    /** Lets a session's agent go on. */
    go: (session: string) => holdOf(session).resolve(),
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function text(messageId: string, deltas: readonly string[]): AgentItem[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT" as const, messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

function call(toolCallId: string, toolCallName: string): AgentItem[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

function round(...items: AgentItem[]): AgentItem[] {
  return [{ type: "round.open" }, ...items, { type: "round.close" }];
}
