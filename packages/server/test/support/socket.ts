import { once } from "node:events";
import type { ServerFrame } from "@holdfast/protocol";
import { WebSocket, type ClientOptions } from "ws";
import type { Granted, TestServer } from "./http.ts";

/** Any frame, read loosely: what a test expects of it, it says. */
export type Heard = ServerFrame & Record<string, unknown>;

/** A WebSocket that remembers everything it heard. */
export interface TestSocket extends AsyncDisposable {
  readonly ws: WebSocket;
  readonly heard: Heard[];
  /** Text as it is, anything else as JSON. */
  send(frame: unknown): void;
  /** The first frame that fits, among those heard already too. */
  find(fits: (frame: Heard) => boolean): Promise<Heard>;
  /** Sends something with a ref, and gives what answers it. */
  ask(frame: object): Promise<Heard>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function rawSocket(url: string, options: ClientOptions = {}): Promise<TestSocket> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/ws`, {
    perMessageDeflate: false,
    ...options,
  });
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  let refs = 0;
  ws.on("message", (data: Buffer) => {
    heard.push(JSON.parse(data.toString()) as Heard);
    for (const look of waiting) look();
  });
  const closed = once(ws, "close").then(([code, reason]) => {
    for (const look of waiting) look();
    return { code: code as number, reason: String(reason) };
  });
  ws.on("error", () => {});
  await Promise.race([
    once(ws, "open"),
    once(ws, "unexpected-response").then(([, response]) => {
      throw new Error(`Refused with ${(response as { statusCode: number }).statusCode}.`);
    }),
  ]);
  const send = (frame: unknown) =>
    ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  const find: TestSocket["find"] = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = heard.find(fits);
        if (!found && ws.readyState !== ws.CLOSED) return;
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`Closed; heard ${JSON.stringify(heard).slice(0, 500)}`));
      };
      waiting.add(look);
      look();
    });
  return {
    ws,
    heard,
    send,
    find,
    ask(frame) {
      const ref = (refs += 1);
      send({ ...frame, ref });
      return find((it) => it["ref"] === ref);
    },
    closed,
    async [Symbol.asyncDispose]() {
      ws.terminate();
      await closed;
    },
  };
}

/** A socket of ana's, or of whom the token is. */
export async function openSocket(server: TestServer, token = server.ana): Promise<TestSocket> {
  const socket = await rawSocket(server.url);
  const ready = await socket.ask({ type: "auth", token });
  if (ready.type !== "ready") throw new Error(`Not ready: ${JSON.stringify(ready)}`);
  return socket;
}

/** A socket of agent demo's that holds an attempt, and what appends to it. */
export async function agentSocket(server: TestServer, work: Granted) {
  const socket = await openSocket(server, server.demo);
  await socket.ask({ type: "attempt", token: work.token });
  return { socket, append: appender(socket, work) };
}

/** Appends values under the next number of a producer, or under one of the test's. */
export function appender(socket: TestSocket, { session, runId, attempt }: Granted, producer = "p") {
  let last = 0;
  return (items: readonly object[], seq = (last += 1)) => {
    const command = { id: `${producer}-${seq}`, type: "run.append", runId, attempt, producer, seq };
    socket.send({ type: "append", session, command: { ...command, items } });
    return seq;
  };
}

export const custom = (value: unknown) => ({ type: "CUSTOM", name: "n", value });
