import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import {
  readPlain,
  type PlainConnections,
  type PlainRequest,
} from "../../../src/http/plain/index.ts";

// Every answer says who read the request: "plain", or Node's own parser, to which the connection went over.

const open: { readonly server: Server; readonly plain: PlainConnections }[] = [];
export const logged: unknown[] = [];

/** To be said once in each file: closes what its tests open, and lets nothing be logged that they do not expect. */
export function tidyUp(): void {
  afterEach(() => {
    for (const { server, plain } of open.splice(0)) {
      plain.closeAll();
      server.closeAllConnections();
      server.close();
    }
    expect(logged.splice(0)).toEqual([]);
  });
}

type Answering = (request: PlainRequest) => Promise<unknown> | undefined;

export interface House {
  readonly port: number;
  readonly plain: PlainConnections;
  /** The server's ends of its connections, in order. */
  readonly sockets: readonly Socket[];
}

export async function serve(
  times: { requestTimeout?: number; keepAliveTimeout?: number } = {},
  answer: Answering = (request) =>
    Promise.resolve(echo("plain", request.head.target, request.body)),
): Promise<House> {
  const server = createServer(
    { ...times, headersTimeout: times.requestTimeout ?? 1_000 },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { body } = echo("node", request.url ?? "", Buffer.concat(chunks));
        response.writeHead(200, { "content-length": Buffer.byteLength(body) }).end(body);
      });
    },
  );
  const plain = readPlain(server, {
    answer: answer as Parameters<typeof readPlain>[1]["answer"], // tests answer with anything
    maxBodyBytes: 200_000,
    log: (_message, error) => logged.push(error),
  });
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  open.push({ server, plain });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, plain, sockets };
}

export function echo(reader: string, target: string, body: Uint8Array) {
  const text = `<${reader} ${target} ${Buffer.from(body).toString()}>`;
  return { status: 200, type: "application/json" as const, body: text };
}

export function requestOf(target: string, body = "", more = ""): string {
  return `POST ${target} HTTP/1.1\r\nhost: h\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A client of bytes: what it got so far, and a wait for something in it. */
export async function dial(port: number) {
  const socket = connect(port, "127.0.0.1");
  let got = "";
  let closed = false;
  socket.on("data", (chunk: Buffer) => (got += chunk.toString()));
  socket.on("error", () => {});
  socket.on("close", () => (closed = true));
  await once(socket, "connect");
  const until = async (done: () => boolean) => {
    for (let n = 0; n < 1_000 && !done(); n += 1) await sleep(5);
    if (!done()) throw new Error(`It did not come. Got: ${got.slice(0, 500)}`);
  };
  return {
    socket,
    got: () => got,
    answers: () => [...got.matchAll(/<[^>]*>/g)].map(([text]) => text),
    until,
    closed: () => until(() => closed),
  };
}
