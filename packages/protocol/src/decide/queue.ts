import type { RunPhase } from "../run-table.ts";
import type { Run } from "../run.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { record } from "./ruling.ts";

/** The row's column in the run table. */
export function phaseOf(run: Run): RunPhase {
  return run.status === "queued" ? (run.behind.length > 0 ? "held" : "queued") : run.status;
}

/** Makes a run ready to be started, under a new wake id. */
export function queueRun(
  draft: Draft,
  env: Env,
  runId: string,
  reason: "freed" | "barrier" | "news" | "lost" | "released",
): void {
  record(draft, env, { type: "run.queued", reason, wakeId: env.newId("wake") }, { runId });
}
