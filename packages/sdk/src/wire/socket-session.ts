import {
  HoldfastError,
  type Offset,
  type ServerFrame,
  type SocketAttempt,
  type Verdict,
} from "@holdfast/protocol";
import { parseVerdicts } from "./messages.ts";
import { unreachable } from "./problem.ts";
import type { Arrived } from "./arrived.ts";
import { follow } from "./socket-follow.ts";
import { openLine, type Line, type SocketOptions } from "./socket.ts";
import { deadline, linkedController, systemTiming } from "./timing.ts";

/** An append's place among its producer's batches. */
export interface Batch {
  /** The command's. */
  readonly id: string;
  readonly runId: string;
  readonly attempt: number;
  readonly producer: string;
  readonly seq: number;
}

/** What travels over a socket, under one right: the socket's own, or an attempt's. */
export interface SocketLane {
  /** As `postCommands`. */
  commands(
    session: string,
    commands: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Verdict[]>;
  /**
   * Sends one `run.append`, given as JSON text. Several of a producer may be on their way, in order; each resolves when
   * it is durable.
   *
   * @throws {HoldfastError} what the server says of the request as a whole, or `unreachable`; the signal's reason
   */
  append(session: string, command: string, batch: Batch, signal: AbortSignal): Promise<Verdict>;
  /** A session's entries after a cursor, until the line or the subscription ends. @throws as `append` */
  subscribe(
    session: string,
    after: Offset,
    signal?: AbortSignal,
  ): AsyncGenerator<Arrived, void, undefined>;
}

/**
 * One WebSocket for many sessions. It is connected when something is asked of it, and again after it was lost: what was
 * under way then is `unreachable`, and whoever asked asks again.
 */
export interface SessionSocket extends SocketLane {
  /**
   * Waits for work, as `POST /v1/work/claim`, whose body is given as JSON text. Once `signal` is aborted the server is
   * told, and its last word is waited for: what it granted before is given, so that nobody is left to wait for it.
   *
   * @returns the grant, unchecked, or undefined when nothing came
   * @throws as `append`, but for the signal's reason only where nothing was asked yet
   */
  work(request: string, waitMs: number, signal: AbortSignal): Promise<unknown>;
  /**
   * Gives the socket an attempt's token, on every connection until it is forgotten, which waits for what is under way.
   *
   * @returns what speaks under it
   */
  lane(attempt: SocketAttempt & { readonly token: string }): SocketLane & { forget(): void };
  /** Final. */
  close(): void;
}

/** Nothing is connected before something is asked. */
export function createSocket(options: SocketOptions): SessionSocket {
  const { timing = systemTiming, timeoutMs = 30_000 } = options;
  const tokens = new Map<SocketAttempt, string>();
  let connecting: Promise<Line> | undefined;
  let current: Line | undefined;
  let closed = false;
  let refs = 0;

  function line(): Promise<Line> {
    if (closed) return Promise.reject(isClosed());
    if (current && !current.signal.aborted) return Promise.resolve(current);
    connecting ??= connect().finally(() => (connecting = undefined));
    return connecting;
  }

  async function connect(): Promise<Line> {
    const made = await openLine(options);
    if (closed) made.drop(isClosed());
    else for (const token of tokens.values()) made.send({ type: "attempt", token });
    current = made;
    return made;
  }

  /** Says something to the server if there is a connection; a later one is told otherwise. */
  function mention(frame: object): void {
    if (current && !current.signal.aborted) current.send(frame);
  }

  /** Sends a frame and gives the first thing that `pick` makes of what comes. */
  async function ask<T>(
    text: string,
    signal: AbortSignal,
    pick: (frame: ServerFrame) => T | undefined,
    withinMs = timeoutMs,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { controller, unlink } = linkedController(signal);
    const given = () => reject(signal.reason as Error);
    controller.signal.addEventListener("abort", given);
    const timer = deadline(timing, withinMs, () =>
      reject(unreachable(`No answer came within ${withinMs} ms.`)),
    );
    let stop = () => {};
    try {
      signal.throwIfAborted();
      const on = await Promise.race([line(), promise as Promise<never>]);
      if (isLarger(text, on.maxFrameBytes)) throw tooLarge(on.maxFrameBytes);
      const lost = () => reject(on.signal.reason as Error);
      const deaf = on.listen((frame) => {
        try {
          const got = pick(frame);
          if (got !== undefined) resolve(got);
        } catch (error) {
          reject(error as Error);
        }
      });
      on.signal.addEventListener("abort", lost);
      stop = () => {
        deaf();
        on.signal.removeEventListener("abort", lost);
      };
      on.send(text);
      return await promise;
    } finally {
      stop();
      timer.stop();
      unlink();
    }
  }

  function laneOf(under: { readonly runId?: string; readonly attempt?: number }): SocketLane {
    return {
      commands(session, commands, signal) {
        const ref = (refs += 1);
        const head = JSON.stringify({ type: "commands", session, ...under, ref }).slice(0, -1);
        return ask(`${head},"commands":[${commands.join(",")}]}`, signal, (frame) => {
          if (frame.type === "error" && frame.ref === ref) throw new HoldfastError(frame.error);
          return frame.type === "verdicts" && frame.ref === ref ? parseVerdicts(frame) : undefined;
        });
      },
      append(session, command, batch, signal) {
        const head = JSON.stringify({ type: "append", session }).slice(0, -1);
        const pick = verdictOf(session, batch);
        return ask(`${head},"command":${command}}`, signal, pick);
      },
      async *subscribe(session, after, signal) {
        signal?.throwIfAborted();
        yield* follow(await line(), { session, ...under, after, ref: (refs += 1) }, signal);
      },
    };
  }

  return {
    ...laneOf({}),
    async work(request, waitMs, signal) {
      await line();
      signal.throwIfAborted();
      const ref = (refs += 1);
      const cancel = () => mention({ type: "cancel", ref });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        const head = JSON.stringify({ type: "work", ref }).slice(0, -1);
        const pick = (frame: ServerFrame) => {
          if (frame.type === "error" && frame.ref === ref) throw new HoldfastError(frame.error);
          return frame.type === "work" && frame.ref === ref ? { work: frame.work } : undefined;
        };
        const text = `${head},"request":${request}}`;
        return (await ask(text, new AbortController().signal, pick, waitMs + timeoutMs)).work;
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    lane({ session, runId, attempt, token }) {
      const named = { session, runId, attempt };
      const inner = laneOf({ runId, attempt });
      let pending = 0;
      let forgotten = false;
      tokens.set(named, token);
      mention({ type: "attempt", token });

      function forgetOnceQuiet(): void {
        if (forgotten && pending === 0 && tokens.delete(named))
          mention({ type: "forget", ...named });
      }

      async function counted<T>(asked: Promise<T>): Promise<T> {
        pending += 1;
        try {
          return await asked;
        } finally {
          pending -= 1;
          forgetOnceQuiet();
        }
      }

      return {
        commands: (...args) => counted(inner.commands(...args)),
        append: (...args) => counted(inner.append(...args)),
        subscribe: (...args) => inner.subscribe(...args),
        forget() {
          forgotten = true;
          forgetOnceQuiet();
        },
      };
    },
    close() {
      closed = true;
      current?.drop(isClosed());
    },
  };
}

/** Reads an append's verdict from what comes: refused items first, then the acknowledgement that covers it. */
function verdictOf(
  session: string,
  { id, runId, attempt, producer, seq }: Batch,
): (frame: ServerFrame) => Verdict | undefined {
  let skipped: Verdict["skipped"];
  return (frame) => {
    if (frame.type !== "ack" && frame.type !== "refused") return undefined;
    const isMine =
      frame.session === session &&
      frame.runId === runId &&
      frame.attempt === attempt &&
      frame.producer === producer;
    if (!isMine || frame.seq < seq) return undefined;
    if (frame.type === "ack") {
      return { id, status: "applied", offset: frame.offset, ...(skipped && { skipped }) };
    }
    if (frame.seq !== seq) return undefined;
    const { error, offset } = frame;
    if (error && offset === undefined) throw new HoldfastError(error);
    if (error && offset !== undefined) return { id, status: "rejected", offset, error };
    skipped = frame.skipped;
    return undefined;
  };
}

/** A string may have three bytes for a character. */
function isLarger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes;
}

function tooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError({
    code: "too_large",
    message: `The frame is larger than ${maxBytes} bytes: send less at once.`,
    details: { limit: maxBytes },
  });
}

function isClosed(): HoldfastError {
  return new HoldfastError({ code: "closed", message: "The socket was closed here." });
}
