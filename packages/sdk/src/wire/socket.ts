import { HoldfastError, type ServerFrame, type SocketRef } from "@holdfast/protocol";
import { isObject, isErrorCode, unreachable } from "./problem.ts";
import { systemTiming, type Timing } from "./timing.ts";
import type { TransportOptions } from "./transport.ts";

/** What is used of a `WebSocket`: the browser's, Node's, or another one's. */
export interface WebSocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(
    type: "close",
    listener: (event: { code: number; reason: string }) => void,
  ): void;
}

export interface SocketOptions {
  /** Where the server is, as of a transport. */
  readonly url: string;
  /** A bearer token, or what gives a fresh one; asked for every connection, and when one is about to end. */
  readonly token: NonNullable<TransportOptions["token"]>;
  /** Default: the platform's `WebSocket`. */
  readonly webSocket?: new (url: string) => WebSocketLike;
  readonly timing?: Timing;
  /** How long a connection may take to be made, and a request to be answered, milliseconds. Default 30 s. */
  readonly timeoutMs?: number;
  /** After how much silence the server is asked whether it is there, milliseconds. Default 15 s. */
  readonly pingMs?: number;
}

/** One connection that is made and authenticated. */
export interface Line {
  /** The largest frame the server takes, in bytes. */
  readonly maxFrameBytes: number;
  send(frame: object | string): void;
  /** Hears every frame of the server, and the end of the line, after which nothing comes. */
  listen(listener: LineListener): () => void;
  /** Aborted when the line is over; the reason is a {@link HoldfastError}. */
  readonly signal: AbortSignal;
  /** Ends it, as lost. */
  drop(error: HoldfastError): void;
}

export type LineListener = (frame: ServerFrame) => void;

/**
 * Opens one WebSocket and says who it is.
 *
 * @param onLine called before anything else is said on it
 * @throws {HoldfastError} `unreachable`, or the server's refusal of the token
 */
export async function openLine(options: SocketOptions): Promise<Line> {
  const { url, token, timing = systemTiming, timeoutMs = 30_000, pingMs = 15_000 } = options;
  const Socket = options.webSocket ?? (WebSocket as new (url: string) => WebSocketLike);
  const tokenNow = async () => (typeof token === "function" ? token() : token);
  const first = await tokenNow().catch((error: unknown) => {
    throw error instanceof HoldfastError ? error : unreachable("No token was to be had.", error);
  });
  const socket = new Socket(`${url.replace(/\/+$/, "").replace(/^http/, "ws")}/v1/ws`);
  const over = new AbortController();
  const listeners = new Set<LineListener>();
  const { promise: ready, resolve, reject } = Promise.withResolvers<number>();
  let heardAt = timing.now();

  function drop(error: HoldfastError): void {
    if (over.signal.aborted) return;
    over.abort(error);
    reject(error);
    socket.close();
  }

  function hear(text: unknown): void {
    heardAt = timing.now();
    const frame = typeof text === "string" ? frameOf(text) : undefined;
    if (!frame) return drop(unreachable("The server sent no frame: is it a Holdfast server?"));
    if (frame.type === "ready") resolve(frame.maxFrameBytes);
    if (frame.type === "expiring") void refresh();
    // The only frame before `ready` that has no answer of its own.
    if (frame.type === "error" && frame.ref === AUTH) reject(new HoldfastError(frame.error));
    for (const listener of listeners) listener(frame);
  }

  /** Without a token in time, the server closes the line, and the next one tells why none is to be had. */
  async function refresh(): Promise<void> {
    const fresh = await tokenNow().catch(() => undefined);
    if (fresh !== undefined && !over.signal.aborted) send({ type: "auth", token: fresh });
  }

  function send(frame: object | string): void {
    if (over.signal.aborted) throw over.signal.reason;
    socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  async function watch(): Promise<void> {
    for (let wait = pingMs; ;) {
      await timing.sleep(wait, over.signal);
      const silent = timing.now() - heardAt;
      if (silent >= pingMs * 2.5) {
        return drop(unreachable(`The socket has been silent for ${silent} ms.`));
      }
      if (silent >= pingMs) send({ type: "ping" });
      wait = pingMs - Math.min(silent, pingMs / 2);
    }
  }

  socket.addEventListener("open", () => send({ type: "auth", token: first, ref: AUTH }));
  socket.addEventListener("message", ({ data }) => hear(data));
  socket.addEventListener("error", () => drop(unreachable(`${url} cannot be reached.`)));
  socket.addEventListener("close", ({ code, reason }) =>
    drop(unreachable(`The server closed the socket (${code} ${reason}).`)),
  );
  const late = new AbortController();
  timing.sleep(timeoutMs, late.signal).then(
    () => drop(unreachable(`${url} did not answer within ${timeoutMs} ms.`)),
    () => {},
  );
  try {
    const maxFrameBytes = await ready;
    void watch().catch(() => {});
    return {
      maxFrameBytes,
      send,
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      signal: over.signal,
      drop,
    };
  } catch (error) {
    drop(unreachable("The socket was given up."));
    throw error;
  } finally {
    late.abort();
  }
}

/** The ref of the first frame; all others are numbers. */
const AUTH: SocketRef = "auth";

/** Checks the outline; a code that this version does not know reads as `invalid_request`, with the code in its details. */
function frameOf(text: string): ServerFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value["type"] !== "string") return undefined;
  const { error } = value;
  if (error === undefined) return value as unknown as ServerFrame; // our own server's
  if (!isObject(error) || typeof error["message"] !== "string") return undefined;
  if (isErrorCode(error["code"])) return value as unknown as ServerFrame;
  const { code, details } = error;
  const known = { ...error, code: "invalid_request", details: { ...(details as object), code } };
  return { ...value, error: known } as unknown as ServerFrame;
}
