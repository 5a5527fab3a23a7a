import type { Socket } from "node:net";
import type { Answer } from "../answer.ts";
import type { Head, Heads } from "./head.ts";
import { writeAnswer, writeResponse } from "./write.ts";

/** A request that came whole. */
export interface PlainRequest {
  readonly head: Head;
  readonly body: Uint8Array;
  readonly connection: {
    /** Who is to hear that the client went away before it was answered whole. */
    onGone: (() => void) | undefined;
    destroy(): void;
  };
}

export interface PlainOptions {
  /** Answers a request, or leaves it and all that follows to the full parser: undefined. Never rejects. */
  readonly answer: (request: PlainRequest) => Promise<Answer | Response> | undefined;
  /** The longest body, in bytes. */
  readonly maxBodyBytes: number;
  readonly log: (message: string, error: unknown) => void;
}

/** What a connection needs of the server around it. */
export interface PlainServer extends PlainOptions {
  readonly heads: Heads;
  /** Takes the connection over, with what was read of it and not answered; the socket is paused. */
  readonly handOver: (socket: Socket) => void;
  /** How long an idle connection is told that it may stay, in milliseconds. */
  readonly keepAliveMs: number;
}

/** The longest head, in bytes: what Node's own parser takes. */
const MAX_HEAD = 16 << 10;
const BLANK_LINE = "\r\n\r\n";
/** How many pieces may wait: one of a few bytes costs hundreds. */
const MOST_PIECES = 1_000;
/** How much may wait behind a request that is being answered, in bytes. */
const MOST_WAITING = 64 << 10;

/**
 * A connection as long as all that comes on it is plain: one request after the other, each answered before the next is
 * looked at.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #server: PlainServer;
  readonly #left: () => void;
  /** What came and is not answered yet, in order. */
  #waiting: Buffer[] = [];
  #bytes = 0;
  /** How many bytes there must be before it is worth another look. */
  #wanted = 1;
  #answering = false;
  onGone: (() => void) | undefined;
  /** Since when it is idle, is ending, or a request comes in, by a clock that nobody sets. */
  since = performance.now();

  /** @param left called once, when it is closed or handed over */
  constructor(socket: Socket, server: PlainServer, left: () => void) {
    this.#socket = socket;
    this.#server = server;
    this.#left = left;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  /** Between two requests. */
  get idle(): boolean {
    return !this.#answering && this.#bytes === 0;
  }

  /** A request has begun and is not there yet. */
  get halfway(): boolean {
    return !this.#answering && this.#bytes > 0;
  }

  /** Over for one side, and waiting for the client to take what was written. */
  get ending(): boolean {
    return this.#socket.writableEnded;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes it once its client has taken what was answered. */
  end(): void {
    if (!this.#socket.writable) return;
    this.since = performance.now();
    this.#socket.destroySoon();
  }

  /** Says that a request took too long to come, and reads no more of it; the second time, waits for nobody. */
  timeOut(): void {
    if (!this.#socket.writable) return this.destroy();
    this.#socket.off("data", this.#onData);
    this.#socket.write("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
    this.#socket.destroySoon();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.idle) this.since = performance.now();
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#waiting.length > MOST_PIECES) this.#gather();
    if (!this.#answering && this.#bytes >= this.#wanted) this.#next();
    else if (this.#answering && this.#bytes > MOST_WAITING) this.#socket.pause();
  };

  /** It closes, or its client does: nobody waits for an answer any more. */
  readonly #onEnd = (): void => this.end();

  readonly #onError = (): void => this.destroy();

  readonly #onClose = (): void => {
    this.onGone?.();
    this.#left();
  };

  /** Takes the next request, if it is there. */
  #next(): void {
    const data = this.#gather();
    const end = data.indexOf(BLANK_LINE);
    if (end < 0 && data.length < MAX_HEAD + BLANK_LINE.length) {
      this.#wanted = data.length + 1;
      return;
    }
    const plain = end >= 0 && end <= MAX_HEAD;
    const head = plain ? this.#server.heads.read(data.toString("latin1", 0, end)) : undefined;
    if (!head || head.length > this.#server.maxBodyBytes) return this.#handOver(data);
    const from = end + BLANK_LINE.length;
    const to = from + head.length;
    if (data.length < to) {
      this.#wanted = to;
      return;
    }
    const body = data.subarray(from, to);
    const answer = this.#server.answer({ head, body, connection: this });
    if (!answer) return this.#handOver(data);
    this.#answering = true;
    this.#keep(data.length > to ? [data.subarray(to)] : []);
    void answer.then((made) => this.#send(made, head.method));
  }

  #gather(): Buffer {
    const [first] = this.#waiting;
    if (first && this.#waiting.length === 1) return first;
    const data = Buffer.concat(this.#waiting);
    this.#waiting = [data];
    return data;
  }

  #keep(waiting: Buffer[]): void {
    this.#waiting = waiting;
    this.#bytes = waiting[0]?.length ?? 0;
    this.#wanted = 1;
  }

  #send(answer: Answer | Response, method: string): void {
    const { keepAliveMs, log } = this.#server;
    const socket = this.#socket;
    if (answer instanceof Response) {
      void writeResponse(socket, answer, { method, keepAliveMs, log }).then(() => this.#goOn());
    } else if (socket.writable) {
      writeAnswer(socket, answer, keepAliveMs);
      if (socket.writableNeedDrain) socket.once("drain", () => this.#goOn());
      else this.#goOn();
    }
  }

  /** An answer has left: what waits behind it comes next. */
  #goOn(): void {
    if (!this.#socket.writable) return;
    this.onGone = undefined;
    this.#answering = false;
    this.since = performance.now();
    if (this.#bytes > 0) this.#next();
    // Its sender waits until there is little of it left, not for each small request.
    const much = this.#answering && this.#bytes > MOST_WAITING;
    if (!much && this.#socket.isPaused()) this.#socket.resume();
  }

  #handOver(data: Buffer): void {
    const socket = this.#socket;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("error", this.#onError);
    socket.off("close", this.#onClose);
    socket.pause();
    socket.unshift(data);
    this.#left();
    this.#server.handOver(socket);
    socket.resume();
  }
}
