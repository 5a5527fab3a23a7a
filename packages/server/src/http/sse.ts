import {
  cursorOf,
  type Engine,
  type FrameText,
  type MayAct,
  type Snapshot,
  type Visibility,
} from "../engine/index.ts";
import { live } from "./live.ts";
import { stateText } from "./state-text.ts";

export interface SseOptions {
  readonly engine: Engine;
  readonly session: string;
  readonly after: string | undefined;
  readonly visibility: Visibility;
  /** Who reads; undefined for an attempt. */
  readonly principal: string | undefined;
  /** A person reads, who may do this. */
  readonly person: MayAct | undefined;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Calls `over` when the reader may read no longer; the result takes it back. */
  readonly watch: (over: () => void) => () => void;
  /** Closes the connection under a reader that takes nothing. */
  readonly destroy: (() => void) | undefined;
}

/**
 * A session's frames as server-sent events. A cursor that the server cannot bridge gets a `reset` with the state
 * first, and goes on from there. Ends when the reader may read no longer: a new token goes on from its cursor.
 *
 * @throws HoldfastError `unknown_session`, `invalid_offset`, `too_many_requests`
 */
export async function eventStream(options: SseOptions): Promise<Response> {
  const { engine, session, after, person, principal, visibility } = options;
  const { heartbeatMs, schedule, log, watch, destroy } = options;
  const stop = new AbortController();
  let slow = () => {};
  const following = {
    signal: stop.signal,
    visibility,
    onSlow: () => slow(),
    ...(person && { person }),
    ...(principal !== undefined && { principal }),
  };
  const { reset, frames } = await engine.resume(session, after, following);
  const { response, end } = live({
    source: frames,
    stop,
    type: "text/event-stream",
    first: { bytes: reset ? resetOf(reset, visibility) : HELLO },
    alive: HEARTBEAT,
    tell: (batch) => ({ bytes: concat(batch.map(eventOf)) }),
    name: `session ${session}`,
    heartbeatMs,
    schedule,
    log,
    watch,
  });
  slow = () => {
    end();
    destroy?.();
  };
  return response;
}

function resetOf(snapshot: Snapshot, visibility: Visibility): Uint8Array {
  const cursor = cursorOf(snapshot.offset, visibility);
  return encoder.encode(`event: reset\nid: ${cursor}\ndata: ${stateText(snapshot)}\n\n`);
}

/** A frame's event, encoded once for all who read it. */
function eventOf(frame: FrameText): Uint8Array {
  let event = encoded.get(frame);
  if (!event) {
    event = encoder.encode(`id: ${frame.cursor}\ndata: ${frame.text}\n\n`);
    encoded.set(frame, event);
  }
  return event;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return only && parts.length === 1 ? only : Buffer.concat(parts);
}

const encoder = new TextEncoder();
const encoded = new WeakMap<FrameText, Uint8Array>();
/** Sent at once, so that the reader knows that it is connected. */
const HELLO = encoder.encode(": connected\n\n");
const HEARTBEAT = encoder.encode(": heartbeat\n\n");
