import {
  findActivation,
  HoldfastError,
  reject,
  type Rejection,
  type Run,
  type SessionState,
} from "@holdfast/protocol";
import { actorOf, mayEnter } from "../../auth/index.ts";
import type { Plan } from "../../engine/index.ts";
import type { HttpOptions } from "../../http/context.ts";
import { json } from "../../http/problem.ts";
import { planningFor } from "./post.ts";
import type { Asking } from "./tell-story.ts";

/**
 * Cancels the run that an AG-UI run id stands for, or all that have not ended: what AG-UI has no word for, since a client
 * that goes away stops nothing. All of them or none; none is fine.
 *
 * @throws HoldfastError `forbidden`, `unknown_session`, `unknown_run`
 */
export async function answerStop(
  options: HttpOptions,
  runId: string | undefined,
  { identity, session }: Asking,
): Promise<Response> {
  mayEnter(identity, session);
  let stopped: readonly string[] = [];
  const plan = (state: SessionState): Plan => {
    const runs = runsToStop(state, runId);
    if ("refused" in runs) return runs;
    const { admit } = planningFor(options, identity, session);
    const steps = [];
    for (const { id } of runs.found) {
      const admitted = admit({ type: "run.cancel", runId: id, reason: "stopped" });
      if ("refused" in admitted) return admitted;
      steps.push(admitted);
    }
    stopped = runs.found.map(({ id }) => id);
    return { steps };
  };
  const actor = actorOf(identity, session);
  const carried = await options.engine.carryOut(session, plan, { actor, count: 1 });
  if (carried.refused) throw new HoldfastError(carried.refused);
  return json(JSON.stringify({ stopped }));
}

function runsToStop(
  state: SessionState,
  runId: string | undefined,
): { readonly found: readonly Run[] } | { readonly refused: Rejection } {
  const isLive = (id: string) => state.runs.get(id) ?? [];
  // The last of them first, so that none is freed that ends in the same commit.
  if (runId === undefined) return { found: [...state.index.live].toReversed().flatMap(isLive) };
  const named = findActivation(state, runId);
  if (!named) {
    return { refused: reject("unknown_run", `This thread has no run ${runId}: name one it has.`) };
  }
  const run = state.runs.get(named.runId);
  // A run that went on beyond what is named is another's to stop.
  const isOver =
    !run || run.status === "ended" || named.activation < (run.activation?.attempt ?? 0);
  return { found: isOver ? [] : [run] };
}
