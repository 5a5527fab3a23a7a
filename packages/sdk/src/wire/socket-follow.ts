import { HoldfastError, type Offset, type ServerFrame } from "@holdfast/protocol";
import type { Arrived } from "./arrived.ts";
import { parseFrame, parseStateAt } from "./messages.ts";
import { unreachable } from "./problem.ts";
import type { Line } from "./socket.ts";

/** What a subscription asks for. */
export interface Wanted {
  readonly session: string;
  readonly runId?: string;
  readonly attempt?: number;
  readonly after: Offset;
  readonly ref: number;
}

/**
 * One session's entries over a line, until the line or the subscription ends. Leaving the loop ends the subscription.
 * Frames of the same session that another subscription brought may be among them, before or beyond the cursor, as long as
 * they show what this one's reader sees.
 *
 * @throws {HoldfastError} why it ended; the signal's reason
 */
export async function* follow(
  line: Line,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): AsyncGenerator<Arrived, void, undefined> {
  const { session, runId, attempt, ref } = wanted;
  const name = { session, ...(runId !== undefined && { runId, attempt }) };
  let ready: Arrived[] = [];
  let isOpen = false;
  /** What the reader sees, as the server's key says. */
  let seen: string | undefined;
  let ended: { readonly reason: unknown } | undefined;
  let wake = () => {};

  function end(reason: unknown): void {
    ended ??= { reason };
    wake();
  }

  function hear(frame: ServerFrame): void {
    const arrived = take(frame);
    if (!arrived) return;
    ready.push(arrived);
    wake();
  }

  function take(frame: ServerFrame): Arrived | undefined {
    switch (frame.type) {
      case "entries":
        if (!isOpen || frame.session !== session || frame.visibility !== seen) return undefined;
        return { type: "frame", frame: parseFrame(frame.frame) };
      case "error":
        if (frame.ref === ref) end(new HoldfastError(frame.error));
        return undefined;
      case "pong":
        return { type: "alive" };
      case "subscribed":
        if (frame.ref !== ref) return undefined;
        isOpen = true;
        seen = frame.visibility;
        return { type: "open" };
      case "reset":
        if (!isOpen || !isMine(frame)) return undefined;
        seen = frame.visibility;
        return { type: "reset", ...parseStateAt(frame) };
      case "unsubscribed":
        // Another of this name may have ended just before this one began.
        if (isOpen ? isMine(frame) : frame.ref === ref)
          end(frame.error ? new HoldfastError(frame.error) : unreachable("The stream ended."));
        return undefined;
      default:
        return undefined;
    }
  }

  function isMine(frame: { session: string; runId?: string; attempt?: number }): boolean {
    return frame.session === session && frame.runId === runId && frame.attempt === attempt;
  }

  const lost = () => end(line.signal.reason);
  const given = () => end(signal?.reason);
  const deaf = line.listen((frame) => {
    try {
      hear(frame);
    } catch (error) {
      end(error);
    }
  });
  line.signal.addEventListener("abort", lost);
  signal?.addEventListener("abort", given);
  try {
    line.send({ type: "subscribe", ...wanted });
    for (;;) {
      if (signal?.aborted) throw signal.reason;
      const taken = ready;
      ready = [];
      yield* taken;
      if (ready.length > 0) continue;
      if (ended) throw ended.reason;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    deaf();
    line.signal.removeEventListener("abort", lost);
    signal?.removeEventListener("abort", given);
    if (!line.signal.aborted) line.send({ type: "unsubscribe", ...name });
  }
}
