import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { headersOf, type Answer } from "../answer.ts";

/** Writes an answer in one piece. */
export function writeAnswer(socket: Socket, answer: Answer, keepAliveMs: number): void {
  const { body } = answer;
  const length = Buffer.byteLength(body);
  let text = statusLine(answer.status);
  const headers = headersOf(answer);
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  text += `content-length: ${length}\r\n${common(keepAliveMs)}\r\n${body}`;
  // ASCII, which most of it is, is copied as it stands.
  socket.write(text, length === body.length ? "latin1" : "utf8");
}

export interface WriteOptions {
  /** Of the request that is answered. */
  readonly method: string;
  readonly keepAliveMs: number;
  readonly log: (message: string, error: unknown) => void;
}

/**
 * Writes a response, piece by piece as the client takes them where it is a stream, and resolves when the last has
 * left. When its client goes away the body is cancelled; a body that fails closes the connection.
 */
export async function writeResponse(
  socket: Socket,
  response: Response,
  { method, keepAliveMs, log }: WriteOptions,
): Promise<void> {
  const { status, headers, body } = response;
  try {
    let head = statusLine(status);
    headers.forEach((value, name) => (head += `${name}: ${value}\r\n`));
    head += common(keepAliveMs);
    if (!socket.writable) {
      await body?.cancel();
    } else if (method === "HEAD" || status === 204 || status === 304) {
      await body?.cancel();
      socket.write(`${head}\r\n`, "latin1");
    } else if (body && isStream(headers)) {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`, "latin1");
      await writeChunks(socket, body);
    } else {
      writeWhole(socket, headers, head, new Uint8Array(await response.arrayBuffer()));
    }
    await drained(socket);
  } catch (error) {
    log("A response broke off", error);
    // Half of it cannot be taken back, only cut off.
    socket.destroy();
  }
}

/** Streams say of themselves that nobody on the way may gather them. */
function isStream(headers: Headers): boolean {
  return headers.get("x-accel-buffering") === "no";
}

function writeWhole(socket: Socket, headers: Headers, head: string, bytes: Uint8Array): void {
  const length = headers.has("content-length") ? "" : `content-length: ${bytes.length}\r\n`;
  socket.cork();
  socket.write(`${head}${length}\r\n`, "latin1");
  if (bytes.length > 0) socket.write(bytes);
  socket.uncork();
}

async function writeChunks(socket: Socket, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {}); // what it says of its end, nobody waits for
  socket.once("close", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !socket.writable) break;
      if (value.length === 0) continue;
      socket.cork();
      socket.write(`${value.length.toString(16)}\r\n`, "latin1");
      socket.write(value);
      socket.write("\r\n", "latin1");
      socket.uncork();
      await drained(socket);
    }
    if (socket.writable) socket.write("0\r\n\r\n", "latin1");
  } finally {
    socket.off("close", cancel);
    cancel();
  }
}

/** Resolves when the client has taken what was written, or is gone. */
function drained(socket: Socket): Promise<void> | undefined {
  if (!socket.writableNeedDrain || socket.destroyed) return undefined;
  return new Promise((resolve) => {
    const over = () => {
      socket.off("drain", over);
      socket.off("close", over);
      resolve();
    };
    socket.on("drain", over);
    socket.on("close", over);
  });
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
}

/** What every head says. */
function common(keepAliveMs: number): string {
  return `date: ${date()}\r\nconnection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
}

let second = 0;
let dateText = "";

/** Now, as HTTP says it. */
function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    dateText = new Date(now * 1000).toUTCString();
  }
  return dateText;
}
