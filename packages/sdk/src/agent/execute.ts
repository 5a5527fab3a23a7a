import { HoldfastError, resultOf, type Call, type Json } from "@holdfast/protocol";
import { linkedController } from "../wire/index.ts";
import type { Attempt } from "./attempt.ts";
import type { Claims } from "./claims.ts";
import type { Proposals } from "./proposals.ts";

/** What a tool's `execute` is given beside what its framework gives. */
export interface Execution {
  /**
   * The session's id and the call's, `session/call`: the same however often the call is executed, and another for every
   * other call, since providers repeat call ids from one session to the next. Give it to whoever has the effect.
   */
  readonly idempotencyKey: string;
  /** Aborted when the call was cancelled, its claim was lost, or the attempt is over. */
  readonly abortSignal: AbortSignal;
}

/**
 * The execution that a tool's options belong to. The options are those that `execute` is called with.
 *
 * @throws {TypeError} where the tool was not wrapped by `run.tools`
 */
export function executionOf(options: object): Execution {
  const execution = executions.get(options);
  if (!execution) throw new TypeError("These are not the options of a tool of run.tools().");
  return execution;
}

/** A framework's options for a tool's `execute`, with the execution. */
export function withExecution<Options extends object>(
  options: Options,
  execution: Execution,
): Options & Execution {
  const given = { ...options, ...execution };
  executions.set(given, execution);
  return given;
}

const executions = new WeakMap<object, Execution>();

/** The right to execute a call, or what it came to already. */
export type Turn =
  | { readonly type: "execute"; readonly execution: Execution; done(): void }
  | { readonly type: "answered"; readonly value: unknown };

/** Gives a call its turn: in the log, then claimed, then executed. */
export interface Executor {
  /**
   * @param outer the framework's own signal, if it has one
   * @throws {HoldfastError} why the call must not be executed here; an `Error` with its text, where it failed already
   */
  begin(callId: string, outer?: AbortSignal): Promise<Turn>;
}

export function createExecutor(attempt: Attempt, proposals: Proposals, claims: Claims): Executor {
  return {
    async begin(callId, outer) {
      await proposals.recorded(callId, attempt.signal);
      const claimed = await claims.claim(callId);
      if (claimed.type === "settled") return { type: "answered", value: outcomeOf(claimed.call) };
      const { controller, unlink } = linkedController(claimed.signal);
      const stop = () => controller.abort(outer?.reason);
      if (outer?.aborted) stop();
      else outer?.addEventListener("abort", stop, { once: true });
      return {
        type: "execute",
        execution: {
          idempotencyKey: `${attempt.work.session}/${claimed.callId}`,
          abortSignal: controller.signal,
        },
        done() {
          unlink();
          outer?.removeEventListener("abort", stop);
        },
      };
    },
  };
}

/** The answer a call has; throws what it says where it failed. */
function outcomeOf(call: Call): Json {
  const result = resultOf(call);
  if (result.kind === "answer") {
    const { answer } = result;
    const value =
      answer.type === "json" ? answer.value : answer.type === "text" ? answer.text : answer.parts;
    if (result.outcome === "ok") return value;
    throw new Error(typeof value === "string" ? value : JSON.stringify(value));
  }
  throw new HoldfastError({
    code: "call_settled",
    message:
      result.kind === "note"
        ? result.text
        : `Call ${call.id} ended ${call.outcome ?? "already"}: it is not executed again.`,
  });
}
