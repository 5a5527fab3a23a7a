import { HoldfastError } from "@holdfast/protocol";
import type { Refused } from "./outbox.ts";

/**
 * Which of an attempt's proposed calls are durably in the log. A framework may execute a call before anybody has read
 * the chunk that announces it; whoever executes waits here first.
 */
export interface Proposals {
  /** The call's arguments are complete and on their way; `receipt` is of the push that carried their end. */
  ended(callId: string, receipt: Promise<readonly Refused[]>): void;
  /**
   * Resolves when the call is in the log with all its arguments. Each proposal is waited for once: a provider may use
   * an id again.
   *
   * @throws {HoldfastError} the refusal, where the server did not take the proposal; the signal's reason
   */
  recorded(callId: string, signal: AbortSignal): Promise<void>;
}

/** @param known calls that were in the log when the attempt began, and that it may execute */
export function createProposals(known: Iterable<string>): Proposals {
  const ready = new Map<string, Promise<void>>();
  const waiting = new Map<string, (end: Promise<void>) => void>();
  for (const callId of known) ready.set(callId, Promise.resolve());

  return {
    ended(callId, receipt) {
      const end = receipt.then((refused) => {
        const mine = refused.find(
          ({ item }) => item.type === "TOOL_CALL_END" && item.toolCallId === callId,
        );
        if (mine) throw new HoldfastError(mine.error);
      });
      end.catch(() => {}); // told to whoever executes the call, if anybody does
      const waiter = waiting.get(callId);
      if (!waiter) return void ready.set(callId, end);
      waiting.delete(callId);
      waiter(end);
    },
    recorded(callId, signal) {
      const end = ready.get(callId);
      if (end) {
        ready.delete(callId);
        return end;
      }
      return new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason as Error);
        if (signal.aborted) return stop();
        signal.addEventListener("abort", stop, { once: true });
        waiting.set(callId, (ended) => {
          signal.removeEventListener("abort", stop);
          resolve(ended);
        });
      });
    },
  };
}
