import type { Verdict } from "./command.ts";
import type { Frame } from "./entry.ts";
import type { Rejection } from "./errors.ts";
import type { Offset } from "./offset.ts";
import type { StateRows } from "./state.ts";

/** Names a request of a socket's client; what answers it repeats it. */
export type SocketRef = string | number;

/** Whose right a frame uses: the attempt that was given to the socket by its token; without it, the socket's own. */
interface Under {
  readonly runId?: string;
  readonly attempt?: number;
}

/** One attempt, wherever it is named on a socket. */
export interface SocketAttempt {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
}

/** What a client says over a WebSocket, one JSON text a message (docs/protocol/websocket.md). */
export type ClientFrame =
  /** First of all; later with a fresh token of the same principal. */
  | { readonly type: "auth"; readonly token: string; readonly ref?: SocketRef }
  /** Gives the socket an attempt's token, for the frames that name the attempt. */
  | { readonly type: "attempt"; readonly token: string; readonly ref?: SocketRef }
  | ({ readonly type: "forget" } & SocketAttempt)
  | SocketSubscribe
  | ({
      readonly type: "unsubscribe";
      readonly session: string;
      readonly ref?: SocketRef;
    } & Under)
  | SocketCommands
  | SocketAppend
  /** Waits for work, as `POST /v1/work/claim` does; `request` is its body. */
  | { readonly type: "work"; readonly ref: SocketRef; readonly request: unknown }
  /** Waits for that work no more. What was granted already still comes. */
  | { readonly type: "cancel"; readonly ref: SocketRef }
  | { readonly type: "ping"; readonly ref?: SocketRef };

export interface SocketSubscribe extends Under {
  readonly type: "subscribe";
  readonly session: string;
  /** Begin after this offset; without it, with the first entry. */
  readonly after?: Offset;
  /** Begin with the state instead. */
  readonly state?: boolean;
  readonly ref?: SocketRef;
}

export interface SocketCommands extends Under {
  readonly type: "commands";
  readonly session: string;
  readonly ref: SocketRef;
  /** An array of commands, as a batch over HTTP has it. */
  readonly commands: unknown;
}

/** A `run.append` that is answered by cumulative acknowledgements, under the token of the attempt that it names. */
export interface SocketAppend {
  readonly type: "append";
  readonly session: string;
  /** The command as over HTTP. */
  readonly command: unknown;
}

/** What the server says over a WebSocket, one JSON text a message. */
export type ServerFrame =
  | SocketReady
  /** The token ends soon: send a fresh one. */
  | { readonly type: "expiring"; readonly expiresAt: number }
  | ({
      readonly type: "attempt";
      readonly ref?: SocketRef;
      readonly expiresAt: number;
    } & SocketAttempt)
  /** The socket has the attempt's token no more. */
  | ({ readonly type: "forgotten"; readonly error?: Rejection } & SocketAttempt)
  | ({
      readonly type: "subscribed";
      readonly session: string;
      /** What the reader sees, where that is not everything; its entries say the same. */
      readonly visibility?: string;
      readonly ref?: SocketRef;
    } & Under)
  | {
      readonly type: "entries";
      readonly session: string;
      readonly visibility?: string;
      readonly frame: Frame;
    }
  /** Start over from this state. */
  | ({
      readonly type: "reset";
      readonly session: string;
      readonly offset: Offset;
      /** What the reader sees, where that is not everything: `after` is then `<offset>~<visibility>`. */
      readonly visibility?: string;
      readonly state: StateRows;
    } & Under)
  /** No more entries of the session; `error` says why where the client did not ask for it. */
  | ({
      readonly type: "unsubscribed";
      readonly session: string;
      readonly ref?: SocketRef;
      readonly error?: Rejection;
    } & Under)
  | {
      readonly type: "verdicts";
      readonly session: string;
      readonly ref: SocketRef;
      readonly verdicts: readonly Verdict[];
    }
  | SocketAck
  | SocketRefused
  | { readonly type: "work"; readonly ref: SocketRef; readonly work?: unknown }
  | { readonly type: "pong"; readonly ref?: SocketRef }
  | { readonly type: "error"; readonly ref?: SocketRef; readonly error: Rejection };

export interface SocketReady {
  readonly type: "ready";
  readonly ref?: SocketRef;
  readonly principal: string;
  /** When the token ends, Unix milliseconds. */
  readonly expiresAt: number;
  /** The largest frame the server takes, in bytes. */
  readonly maxFrameBytes: number;
  /** How many sessions the socket may follow at once. */
  readonly maxSubscriptions: number;
  /** How many attempts' tokens the socket may hold. */
  readonly maxAttempts: number;
}

/** Every batch of the producer up to `seq` is durable; the log has them at `offset`. */
export interface SocketAck extends SocketAttempt {
  readonly type: "ack";
  readonly producer: string;
  readonly seq: number;
  readonly offset: Offset;
}

/** Of one append: the whole of it was refused (`error`), or the items named by `skipped`; their batch is acknowledged. */
export interface SocketRefused extends SocketAttempt {
  readonly type: "refused";
  readonly producer: string;
  readonly seq: number;
  /** The session's head, where the append was decided at all. */
  readonly offset?: Offset;
  readonly error?: Rejection;
  readonly skipped?: Verdict["skipped"];
}

/** Why the server closes a socket; every one may be opened again, and followed on from its cursors. */
export const SOCKET_CLOSES = {
  /** The server stops. */
  going_away: 1001,
  /** No valid token came first, or in time; or a token was revoked. */
  unauthenticated: 4401,
  /** The token ended: open again with a fresh one. */
  token_expired: 4410,
} as const;
