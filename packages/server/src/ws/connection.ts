import type { Duplex } from "node:stream";
import {
  HoldfastError,
  reject,
  SOCKET_CLOSES,
  type ClientFrame,
  type SocketCommands,
  type SocketRef,
} from "@holdfast/protocol";
import { parseClientFrame, refOf } from "@holdfast/protocol/schemas";
import type { WebSocket } from "ws";
import { mayEnter, unauthenticated } from "../auth/index.ts";
import { parseBody, rejectionOf, submitBatch } from "../http/index.ts";
import { createAppends } from "./appends.ts";
import type { SocketOptions } from "./context.ts";
import { createCredentials, keyOf } from "./credentials.ts";
import { countEarly } from "./early.ts";
import { watchExpiry } from "./expiry.ts";
import { keepAlive } from "./keep-alive.ts";
import { createOutgoing, refIn } from "./outgoing.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { createWaits } from "./waits.ts";

/** One socket that is served. */
export interface Connection {
  close(why: keyof typeof SOCKET_CLOSES): void;
  /** Cuts it, whatever is still to be said. */
  terminate(): void;
}

/**
 * Serves one socket, in the order of its frames: nothing before it said who it is, then every frame by itself. A frame
 * that cannot be read or carried out is answered, and changes nothing for the others.
 *
 * @param onEnd called once, when the socket is gone
 */
export function serveSocket(
  options: SocketOptions,
  ws: WebSocket,
  raw: Duplex,
  onEnd: () => void,
): Connection {
  const { limits, log, schedule, maxBodyBytes } = options;
  /** Frames that came while a token is being verified, which must be known to those behind it. */
  const behind: Buffer[] = [];
  let verifying = false;
  /** It was told to end: what it still says is nobody's word any more. */
  let over = false;
  let undecided = 0;
  let undecidedBytes = 0;
  let heard = false;
  const credentials = createCredentials(options);
  const outgoing = createOutgoing(ws, raw, {
    bufferBytes: limits.bufferBytes,
    onDrain() {
      heard = true;
      throttle();
    },
  });
  const subscriptions = createSubscriptions(options, credentials, outgoing);
  const work = createWaits(options, credentials, { outgoing, fail });
  const append = createAppends(options, credentials, outgoing);
  const expiry = watchExpiry(options, credentials, { outgoing, subscriptions, over: close });
  const stopWaiting = schedule(limits.authMs, () => {
    if (!credentials.own) fail(undefined, unauthenticated("No token came in time."), true);
  });
  const stopBeating = keepAlive(schedule, options.sseHeartbeatMs, {
    heard() {
      // While nothing is read, nothing can be heard.
      const was = heard || (ws.isPaused && !outgoing.blocked);
      heard = false;
      return was;
    },
    ping() {
      if (ws.readyState === ws.OPEN) ws.ping();
    },
    lost: () => ws.terminate(),
  });

  ws.on("message", (data: Buffer, isBinary) => {
    heard = true;
    if (over) return;
    if (isBinary) fail(undefined, invalid("A frame is JSON text, not binary."));
    else if (verifying) behind.push(data);
    else receive(data);
    throttle();
  });
  countEarly(raw, limits.authBytes, {
    isKnown: () => verifying || credentials.own !== undefined,
    beyond(bytes) {
      if (!over)
        fail(undefined, tooLarge("What comes before `auth`", limits.authBytes, bytes), true);
      raw.end(() => ws.terminate());
    },
  });
  ws.on("ping", () => (heard = true));
  ws.on("pong", () => (heard = true));
  // What the client broke; `ws` closes the socket over it.
  ws.on("error", () => {});
  ws.on("close", () => {
    stopWaiting();
    stopBeating();
    expiry.stop();
    work.end();
    subscriptions.end();
    outgoing.end();
    onEnd();
  });

  /** Nothing is read while too much is undecided, waits behind a token, or waits for the reader. */
  function throttle(): void {
    const full =
      verifying ||
      undecided >= limits.commands ||
      undecidedBytes >= limits.commandBytes ||
      outgoing.blocked;
    if (full === ws.isPaused) return;
    if (full) ws.pause();
    else ws.resume();
  }

  function receive(data: Buffer): void {
    let value: unknown;
    try {
      if (data.byteLength > maxBodyBytes)
        throw tooLarge("The frame", maxBodyBytes, data.byteLength);
      value = parseBody(data, "frame");
      const frame = parseClientFrame(value);
      if (!credentials.own && frame.type !== "auth") {
        throw unauthenticated("The first frame must be `auth`, with a token.");
      }
      serve(frame, data.byteLength);
    } catch (error) {
      fail(refOf(value), error, !credentials.own);
    }
  }

  function serve(frame: ClientFrame, bytes: number): void {
    switch (frame.type) {
      case "auth":
        return verify(frame.ref, async () => {
          const { identity, expiresAt } = await credentials.authenticate(frame.token);
          outgoing.send({
            type: "ready",
            ...refIn(frame),
            principal: identity.principal,
            expiresAt,
            maxFrameBytes: maxBodyBytes,
            maxSubscriptions: limits.subscriptions,
            maxAttempts: limits.attempts,
          });
          subscriptions.review();
        });
      case "attempt":
        return verify(frame.ref, async () => {
          const { attempt, expiresAt } = await credentials.hold(frame.token);
          outgoing.send({ type: "attempt", ...refIn(frame), ...attempt, expiresAt });
        });
      case "forget": {
        const { session, runId, attempt } = frame;
        credentials.forget(keyOf(frame));
        outgoing.send({ type: "forgotten", session, runId, attempt });
        return subscriptions.review();
      }
      case "subscribe":
        return subscriptions.add(frame);
      case "unsubscribe":
        return subscriptions.remove(frame);
      case "append":
        return decide(1, bytes, append(frame));
      case "commands": {
        const count = Array.isArray(frame.commands) ? frame.commands.length : 1;
        return decide(count, bytes, submit(frame));
      }
      case "work":
        return work.wait(frame.ref, frame.request);
      case "cancel":
        return work.cancel(frame.ref);
      case "ping":
        return outgoing.send({ type: "pong", ...refIn(frame) });
    }
  }

  /** Takes a token; what comes meanwhile waits, since it may need it. */
  function verify(ref: SocketRef | undefined, take: () => Promise<void>): void {
    verifying = true;
    take()
      .catch((error: unknown) => fail(ref, error, !credentials.own))
      .finally(() => {
        verifying = false;
        expiry.changed();
        while (!verifying) {
          const next = behind.shift();
          if (!next) break;
          receive(next);
        }
        throttle();
      });
  }

  /** Counts what is undecided, so that no more is read than can be borne. `done` does not reject. */
  function decide(count: number, bytes: number, done: Promise<void>): void {
    undecided += count;
    undecidedBytes += bytes;
    void done.then(() => {
      undecided -= count;
      undecidedBytes -= bytes;
      throttle();
    });
  }

  async function submit(frame: SocketCommands): Promise<void> {
    const { session, ref, commands } = frame;
    try {
      const { identity } = credentials.of(frame);
      mayEnter(identity, session);
      const verdicts = await submitBatch(options, session, identity, commands);
      outgoing.send({ type: "verdicts", session, ref, verdicts });
    } catch (error) {
      fail(ref, error);
    }
  }

  /** Says that a frame was not carried out. `final` where nothing can come of the socket. */
  function fail(ref: SocketRef | undefined, error: unknown, final = false): void {
    const rejection = rejectionOf(error, log);
    outgoing.send({ type: "error", ...(ref !== undefined && { ref }), error: rejection });
    if (final) close("unauthenticated");
  }

  function close(why: keyof typeof SOCKET_CLOSES): void {
    over = true;
    behind.length = 0;
    subscriptions.end();
    work.end();
    ws.close(SOCKET_CLOSES[why], why);
  }

  return { close, terminate: () => ws.terminate() };
}

function invalid(message: string): HoldfastError {
  return new HoldfastError(reject("invalid_request", message));
}

function tooLarge(what: string, limit: number, value: number): HoldfastError {
  const message = `${what} is larger than ${limit} bytes: send less at once.`;
  return new HoldfastError(reject("too_large", message, { limit, value }));
}
