import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * One kept-alive HTTP/1.1 connection that sends a request and waits for its answer. It reads just what the servers here
 * send (a `Content-Length` or chunks), because a full client costs more than the servers it is to measure.
 */
export class Connection {
  readonly #socket: Socket;
  #received = "";
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk.toString("latin1")));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("The server closed the connection.")));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new Connection(socket);
  }

  /** @param head everything up to the blank line but `Content-Length`, each line with its CRLF */
  send(head: string, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      const length = Buffer.byteLength(body);
      const text = `${head}content-length: ${length}\r\n\r\n${body}`;
      this.#socket.write(text, length === body.length ? "latin1" : "utf8");
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const body = bodyOf(this.#received.slice(0, end), this.#received.slice(end + 4));
    if (body === undefined) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = "";
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status, body });
  }
}

/** The body if it is all there. Nothing follows it, since one request is under way at a time. */
function bodyOf(head: string, rest: string): string | undefined {
  const declared = LENGTH.exec(head)?.[1];
  if (declared !== undefined) {
    const length = Number(declared);
    return rest.length >= length ? rest.slice(0, length) : undefined;
  }
  if (!CHUNKED.test(head)) return "";
  return rest.endsWith("0\r\n\r\n") ? rest : undefined;
}

const LENGTH = /\ncontent-length: *(\d+)/i;
const CHUNKED = /\ntransfer-encoding: *chunked/i;
