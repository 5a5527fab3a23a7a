import { AbstractAgent, EventType, type BaseEvent, type RunAgentInput } from "@ag-ui/client";
import { Observable } from "rxjs";
import type { Told } from "./messages.ts";
import { textOf } from "./words.ts";

/** What the agent needs of its process. */
interface Around {
  readonly tell: (told: Told) => void;
  /** Resolves when the test says so. */
  readonly go: () => Promise<void>;
}

/** An agent in the runtime's process, that does as it is told by its user. */
export class OwnAgent extends AbstractAgent {
  /** Those of the browser's request that the runtime passes on. */
  headers: Record<string, string> = {};
  private readonly around: Around;
  private stopped = Promise.withResolvers<void>();

  constructor(around: Around) {
    super({ agentId: "demo" });
    this.around = around;
  }

  override clone(): OwnAgent {
    const clone = new OwnAgent(this.around);
    clone.agentId = this.agentId ?? "demo";
    return clone;
  }

  override abortRun(): void {
    this.around.tell({ type: "stopped" });
    this.stopped.resolve();
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    return new Observable((subscriber) => {
      const answering = async () => {
        for await (const event of this.answer(input)) subscriber.next(event as BaseEvent);
        subscriber.complete();
      };
      answering().catch((error: unknown) => subscriber.error(error));
    });
  }

  private async *answer({ threadId, runId, messages, resume }: RunAgentInput) {
    const { tell, go } = this.around;
    const said = textOf(messages.findLast(({ role }) => role === "user"));
    tell({ type: "asked", said, tenant: this.headers["x-tenant"] });
    const start = { type: EventType.RUN_STARTED, threadId, runId };
    const finished = { type: EventType.RUN_FINISHED, threadId, runId };
    yield start;
    const last = messages.at(-1);
    if (said === "long") {
      yield { type: EventType.TEXT_MESSAGE_START, messageId: `${runId}:t`, role: "assistant" };
      yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId: `${runId}:t`, delta: "One." };
      await Promise.race([go(), this.stopped.promise]);
      yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId: `${runId}:t`, delta: " Two." };
      yield { type: EventType.TEXT_MESSAGE_END, messageId: `${runId}:t` };
    } else if (last?.role === "tool") {
      yield* text(`${runId}:t`, `You said ${textOf(last)}.`);
    } else if (resume) {
      const isApproved = resume[0]?.status === "resolved";
      if (isApproved) tell({ type: "executed", tool: "pay" });
      const content = isApproved ? "paid" : "not paid";
      yield result(`${threadId}:pay`, content);
      yield* text(`${runId}:t`, isApproved ? "It is paid." : "It is not paid.");
    } else if (said === "pay") {
      yield* call(`${threadId}:pay`, "pay");
      const interrupts = [
        { id: `${threadId}:i`, reason: "tool_call", toolCallId: `${threadId}:pay` },
      ];
      yield { ...finished, outcome: { type: "interrupt", interrupts } };
      return;
    } else if (said === "book") {
      yield* call(`${runId}:b`, "book");
      tell({ type: "executed", tool: "book" });
      await go();
      yield result(`${runId}:b`, "booked");
    } else if (said === "page" || said === "confirm") {
      yield* call(`${runId}:c`, said);
    } else {
      yield* text(`${runId}:t`, `Hello, ${said}.`);
    }
    yield finished;
  }
}

function* text(messageId: string, delta: string) {
  yield { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" };
  yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta };
  yield { type: EventType.TEXT_MESSAGE_END, messageId };
}

function* call(toolCallId: string, toolCallName: string) {
  yield { type: EventType.TOOL_CALL_START, toolCallId, toolCallName };
  yield { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: "{}" };
  yield { type: EventType.TOOL_CALL_END, toolCallId };
}

function result(toolCallId: string, content: string) {
  const messageId = `${toolCallId}:r`;
  return { type: EventType.TOOL_CALL_RESULT, messageId, role: "tool", toolCallId, content };
}
