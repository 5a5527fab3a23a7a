import {
  AbstractAgent,
  CompatibilityBoundary,
  enforceEvents,
  transformChunks,
  verifyEvents,
} from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { from, map, Subject } from "rxjs";

/** What the published client made of a stream: the events that came through for each that went in, and its end. */
export interface Judged {
  readonly events: readonly (readonly unknown[])[];
  /** Which event ended it, and with what words. */
  readonly failed?: { readonly at: number; readonly message: string };
}

process.env["SUPPRESS_TRANSFORMATION_WARNINGS"] = "true";

/** Runs a stream through the published client's pipeline: compatibility, enforcement, chunks, verification. */
export function judge(stream: readonly object[]): Judged {
  const boundary = new CompatibilityBoundary();
  const source = new Subject<BaseEvent>();
  const events: unknown[][] = [];
  const failures: string[] = [];
  source
    .pipe(
      map((event) => boundary["transformEvent"](event)),
      enforceEvents(),
      transformChunks(),
      verifyEvents(),
    )
    .subscribe({
      next: (event) => events.at(-1)?.push(event),
      error: (error: unknown) =>
        failures.push(error instanceof Error ? error.message : String(error)),
    });
  for (const event of stream) {
    events.push([]);
    source.next(structuredClone(event) as BaseEvent);
    const [message] = failures;
    if (message !== undefined) return { events, failed: { at: events.length - 1, message } };
  }
  return { events };
}

/** The published client's compatibility and enforcement of one event: what came through, or why it did not. */
export function judgeOne(raw: object): { readonly event?: unknown; readonly message?: string } {
  const boundary = new CompatibilityBoundary();
  const source = new Subject<BaseEvent>();
  let judged: { event?: unknown; message?: string } = {};
  source
    .pipe(
      map((event) => boundary["transformEvent"](event)),
      enforceEvents(),
    )
    .subscribe({
      next: (event) => (judged = { event }),
      error: (error: unknown) => (judged = { message: String(error) }),
    });
  source.next(structuredClone(raw) as BaseEvent);
  return judged;
}

/** What the published client's verifier alone says of a stream: for events that never were enforced. */
export function judgeVerified(stream: readonly object[]): string | undefined {
  const source = new Subject<BaseEvent>();
  let message: string | undefined;
  source
    .pipe(verifyEvents())
    .subscribe({ error: (error: unknown) => (message = (error as Error).message) });
  for (const event of stream) source.next(event as BaseEvent);
  return message;
}

/** What a stock agent's conversation is after a stream: its messages and its state. */
export async function fold(stream: readonly object[]): Promise<object> {
  const agent = new Scripted(stream);
  await agent.runAgent();
  return { messages: agent.messages, state: agent.state as unknown };
}

/** A stock agent to which an upstream says these events. */
export class Scripted extends AbstractAgent {
  readonly #stream: readonly BaseEvent[];

  constructor(stream: readonly object[]) {
    super({ threadId: "t" });
    this.#stream = stream as readonly BaseEvent[];
  }

  override run() {
    return from(structuredClone(this.#stream) as BaseEvent[]);
  }
}
