import { HoldfastError } from "@holdfast/protocol";
import type { ToolSet } from "ai";
import type { Attempt } from "./attempt.ts";
import { letGo } from "./hand-back.ts";
import type { Refused } from "./outbox.ts";
import { openRun } from "./run.ts";
import type { RunName, WorkerOptions } from "./worker.ts";

export interface AttendOptions<Chunk, History, Tools extends ToolSet> extends Pick<
  WorkerOptions<Chunk, History, Tools>,
  "codec" | "tools" | "policies" | "handler" | "onRefused"
> {
  /** Names this process among the attempt's appenders. */
  readonly producer: string;
  readonly onError: (error: unknown, run?: RunName) => void;
}

/** Has the handler work on an attempt that was given to this process, until it is over for it. Never rejects. */
export async function attend<Chunk, History, Tools extends ToolSet>(
  attempt: Attempt,
  options: AttendOptions<Chunk, History, Tools>,
): Promise<void> {
  const { codec, producer, handler, onError, onRefused } = options;
  const { work, signal } = attempt;
  const about = { session: work.session, runId: work.runId };
  try {
    const { run, conclude } = await openRun({
      attempt,
      codec,
      tools: options.tools ?? ({} as Tools),
      policies: options.policies ?? {},
      producer,
      ...(onRefused && { onRefused: (refused: Refused) => onRefused(refused, about) }),
    });
    try {
      await handler(run);
    } catch (error) {
      if (signal.aborted) throw error;
      onError(error, about);
      const message = error instanceof Error ? error.message : String(error);
      // The handler may have failed or finished the run itself before it threw.
      await run.fail({ code: "agent_error", message }).catch(() => {});
      return;
    }
    await conclude();
  } catch (error) {
    // An attempt that is over needs no words, unless it is its own doing; whatever a handler throws then follows from that.
    if (!signal.aborted) onError(error, about);
    else if (isBreach(signal.reason)) onError(signal.reason, about);
  } finally {
    attempt.lapse(letGo("The attempt has ended."));
  }
}

function isBreach(reason: unknown): boolean {
  return reason instanceof HoldfastError && reason.code === "budget_exceeded";
}
