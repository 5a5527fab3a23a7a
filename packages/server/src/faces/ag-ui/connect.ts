import { findActivation } from "@holdfast/protocol";
import type { AgUiInput, Peer } from "@holdfast/protocol/ag-ui";
import { mayRead } from "../../auth/index.ts";
import type { HttpOptions } from "../../http/context.ts";
import { resumeBehind } from "./resume.ts";
import { tellStory, type Asking } from "./tell-story.ts";
import { runIdOf, threadStory } from "./thread-story.ts";

/** Who joins. */
export interface Joining {
  readonly peer: Peer;
  /** The id it calls a run of the thread by. */
  readonly runId?: string;
  /** What it holds of the thread already. */
  readonly holds?: Pick<AgUiInput, "messages" | "state">;
}

/**
 * Answers with the thread as it is and goes on, until nothing is under way (SPEC 12.4.3); behind `Last-Event-ID`, where that
 * is given, with exactly what came after it.
 *
 * @throws HoldfastError `forbidden`, `unknown_session`, `invalid_offset`, `reset`, `too_many_requests`
 */
export function answerConnect(
  options: HttpOptions,
  { peer, runId: id, holds }: Joining,
  asking: Asking,
): Promise<Response> {
  const { engine } = options;
  const { identity, session, lastEventId } = asking;
  mayRead(identity, session);
  return tellStory(options, asking, async ({ state, visibility }) => {
    const named = id === undefined ? undefined : findActivation(state, id);
    const projection = {
      threadId: session,
      peer,
      runIdOf: runIdOf(state, id !== undefined && named ? { id, ...named } : undefined),
    };
    // Who goes on holds what it was sent, whatever it posts.
    if (lastEventId === undefined) return threadStory(state, { ...projection, ...holds });
    const resuming = { engine, session, visibility, options: projection, lastEventId };
    return threadStory(state, projection, await resumeBehind(state, resuming));
  });
}
