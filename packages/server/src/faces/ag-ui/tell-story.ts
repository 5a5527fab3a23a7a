import type { SessionState } from "@holdfast/protocol";
import { personIn, visibilityOf, type Identity } from "../../auth/index.ts";
import type { FollowOptions, FrameText, Visibility } from "../../engine/index.ts";
import type { HttpOptions } from "../../http/context.ts";
import { encodingFor } from "./encode.ts";
import { createFeed, type Story } from "./feed.ts";
import { stateOf } from "./in-common.ts";
import { respond } from "./respond.ts";

/** One request to a thread, by whom, and what it wants to read. */
export interface Asking {
  readonly identity: Identity;
  readonly session: string;
  readonly accept: string | undefined;
  /** The id of the last event that its reader has. */
  readonly lastEventId: string | undefined;
  /** Closes the connection under a reader that takes nothing. */
  readonly destroy: (() => void) | undefined;
}

/** A reader's place in a session: its state, and what follows. */
export interface Place {
  readonly state: SessionState;
  readonly visibility: Visibility;
}

/**
 * Follows a session and answers with the story that `begin` makes of its state; what follows it is followed from before
 * `begin` was called, so that nothing is missed which that does.
 *
 * @throws HoldfastError what `begin` throws, `unknown_session`, `too_many_requests`
 */
export async function tellStory(
  options: HttpOptions,
  { identity, session, accept, destroy }: Asking,
  begin: (place: Place) => Promise<Story>,
): Promise<Response> {
  const { engine, tokens, sseHeartbeatMs: heartbeatMs, schedule, log } = options;
  const visibility = visibilityOf(identity, session);
  const stop = new AbortController();
  const person = personIn(identity, session);
  const following: FollowOptions = {
    signal: stop.signal,
    visibility,
    ...(person && { person }),
    onSlow: () => destroy?.(),
    // An agent reads in each of its attempts, of which there are as many as it has work.
    ...(!identity.attempt && { principal: identity.principal }),
  };
  const { reset, frames } = await engine.follow(session, following);
  try {
    const state = stateOf(session, reset);
    const story = await begin({ state, visibility });
    return respond({
      feed: createFeed(state, story),
      frames,
      encoding: encodingFor(accept, visibility),
      stop,
      heartbeatMs,
      schedule,
      log,
      watch: (over) => tokens.watch(identity, over),
    });
  } catch (error) {
    await leave(stop, frames);
    throw error;
  }
}

async function leave(
  stop: AbortController,
  frames: AsyncGenerator<readonly FrameText[], void, void>,
): Promise<void> {
  stop.abort();
  await frames.return();
}
