import type { Run } from "../run.ts";
import type { SessionState } from "../state.ts";
import { begin, startRun } from "./begin.ts";
import type { ProjectionOptions } from "./face.ts";
import type { AgUiEvent } from "./face-event.ts";
import { outcomeOf } from "./outcome.ts";
import { createFace, nextOf, projectionOf, type Projection } from "./project.ts";

export interface JoinOptions extends ProjectionOptions {
  /** Whether a MESSAGES_SNAPSHOT is sent even where the reader's messages are the session's. Default: true. */
  readonly snapshot?: boolean;
}

export interface Joined {
  /** What the reader is sent first. */
  readonly prelude: AgUiEvent[];
  /** Goes on with the entry after the state's head. */
  readonly projection: Projection;
}

/**
 * Where a reader begins that comes at `state` (SPEC 12.3.6): the activation that goes on, with all there is of it already
 * and a start for what is open; between two, the last one, whole, with how it ended. Nothing where none ever began.
 */
export function joinThread(state: SessionState, options: JoinOptions): Joined {
  const face = createFace(options);
  face.changed = options.snapshot ?? true;
  const projection = projectionOf(face);
  const active = nextOf(face, state);
  if (active) return { prelude: begin(face, state, active), projection };
  const last = lastOf(state, options.runId);
  if (!last) return { prelude: [], projection };
  const { threadId, runIdOf } = options;
  const runId = runIdOf(last.id, last.activation?.attempt ?? last.attempt);
  const prelude = startRun(face, state, runId);
  prelude.push(outcomeOf(state, last, { threadId, runId, peer: face.peer }));
  return { prelude, projection };
}

/** The run whose activation began last. */
function lastOf(state: SessionState, runId: string | undefined): Run | undefined {
  let last: Run | undefined;
  for (const run of state.runs.values()) {
    if (!run.activation || (runId !== undefined && run.id !== runId)) continue;
    if (!last || run.activation.offset > (last.activation?.offset ?? "")) last = run;
  }
  return last;
}
