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
    socket.setEncoding("latin1");
    socket.setNoDelay(true);
    socket.on("data", (text: string) => this.#read(text));
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
      this.#socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
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
    const head = this.#received.slice(0, end).toLowerCase();
    const body = bodyOf(head, this.#received.slice(end + 4));
    if (body === undefined) return;
    this.#received = "";
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body });
  }
}

/** The body if it is all there. Nothing follows it, since one request is under way at a time. */
function bodyOf(head: string, rest: string): string | undefined {
  const at = head.indexOf("content-length:");
  if (at >= 0) {
    const length = Number.parseInt(head.slice(at + 15), 10);
    return rest.length >= length ? rest.slice(0, length) : undefined;
  }
  if (!head.includes("transfer-encoding: chunked")) return "";
  return rest.endsWith("0\r\n\r\n") ? rest : undefined;
}
