import { argumentsForModel, canonical, HoldfastError, type Call } from "@holdfast/protocol";
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
   * an id again, also that of an earlier attempt's call: what is executed with another tool or input is not that one.
   *
   * @param what is executed, where not what the log says
   * @throws {HoldfastError} the refusal, where the server did not take the proposal; the signal's reason
   */
  recorded(callId: string, signal: AbortSignal, what?: Proposed): Promise<void>;
}

/** A tool and what it is called with. */
export interface Proposed {
  readonly name: string;
  readonly input: unknown;
}

/** @param earlier calls that were in the log when the attempt began, and that it may execute, by the ids it does under */
export function createProposals(earlier: Iterable<readonly [id: string, call: Call]>): Proposals {
  const known = new Map(earlier);
  const ready = new Map<string, Promise<void>>();
  const waiting = new Map<string, (end: Promise<void>) => void>();

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
    recorded(callId, signal, what) {
      const call = known.get(callId);
      known.delete(callId);
      if (call && (!what || isSame(call, what))) return Promise.resolve();
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

/** Whether a framework that executes this executes the call: what was decided upon is in its arguments. */
function isSame(call: Call, { name, input }: Proposed): boolean {
  if (call.name !== name) return false;
  if (call.argumentsEncoding === "text") return input === call.arguments;
  const given: unknown = JSON.parse(JSON.stringify(input ?? {}));
  return canonical(given) === canonical(argumentsForModel(call));
}
