import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { begin, durableStreams, holdfast, tokenOf } from "./appends.ts";
import { Connection } from "./connection.ts";
import { headOf } from "./load.ts";

export interface FanoutLoad {
  readonly subscribers: number;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface FanoutResult {
  /** How many events the subscribers were to get in all, and did not get, or not in order. */
  readonly expected: number;
  readonly missing: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

/** Where events are appended, and where they are followed. */
interface Stream {
  readonly append: {
    readonly path: string;
    readonly headers: Record<string, string>;
    body(n: number): string;
  };
  readonly follow: { readonly path: string; readonly headers: Record<string, string> };
}

/** One event: a token whose text is its number. */
function token(n: number): object {
  return { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: `${n} ` };
}

/** Appends elsewhere before anything is measured: a server that was just started has nothing compiled yet. */
const WARM = { inFlight: 8, sessions: 8, seconds: 2 };

/**
 * Subscribers of one session of Holdfast over server-sent events, while its agent appends token after token, each in a
 * request of its own. A latency is from when an append is sent until a subscriber has it, after it became durable.
 */
export async function holdfastFanout(url: string, load: FanoutLoad): Promise<FanoutResult> {
  await holdfast(url, WARM);
  const session = crypto.randomUUID();
  const { path, runId, attempt, token: mine } = await begin(url, session, 1);
  const reader = await tokenOf(url, { name: "bench" });
  return fanout(url, load, {
    append: {
      path,
      headers: { "content-type": "application/json", authorization: `Bearer ${mine}` },
      body: (n) =>
        JSON.stringify({
          id: `${n}`,
          type: "run.append",
          runId,
          attempt,
          producer: "main",
          seq: n,
          items: [token(n)],
        }),
    },
    follow: {
      path: `/v1/sessions/${session}/entries`,
      headers: { accept: "text/event-stream", authorization: `Bearer ${reader}` },
    },
  });
}

/** The same events through a stream of Durable Streams. */
export async function durableStreamsFanout(url: string, load: FanoutLoad): Promise<FanoutResult> {
  await durableStreams(url, WARM);
  const path = `/${crypto.randomUUID()}`;
  const headers = { "content-type": "application/json" };
  const made = await fetch(url + path, { method: "PUT", headers });
  await made.body?.cancel();
  if (!made.ok) throw new Error(`PUT ${path} gave ${made.status}.`);
  return fanout(url, load, {
    append: { path, headers, body: (n) => JSON.stringify(token(n)) },
    follow: { path: `${path}?offset=-1&live=sse`, headers: { accept: "text/event-stream" } },
  });
}

async function fanout(
  url: string,
  { subscribers, perSecond, seconds }: FanoutLoad,
  { append, follow }: Stream,
): Promise<FanoutResult> {
  const warm = perSecond; // events of the first second, which are not counted
  const last = warm + perSecond * seconds;
  const sentAt: number[] = [];
  const latencies: number[] = [];
  const heard = Array.from({ length: subscribers }, () => 0);
  let astray = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let under = subscribers;

  function hear(who: number, n: number): void {
    const now = performance.now();
    if (n !== (heard[who] ?? 0) + 1) astray += 1;
    heard[who] = n;
    if (n > warm) latencies.push(now - (sentAt[n] ?? now));
    if (n === last && (under -= 1) === 0) resolve();
  }

  const streams = await Promise.all(
    heard.map((_, who) => subscribe(url + follow.path, follow.headers, (n) => hear(who, n))),
  );
  const { host } = new URL(url);
  const head = headOf(host, append.path, append.headers);
  const idle: Connection[] = [];
  const posts: Promise<void>[] = [];
  async function post(n: number): Promise<void> {
    const connection = idle.pop() ?? (await Connection.open(url));
    sentAt[n] = performance.now();
    const { status, body } = await connection.send(head, append.body(n));
    if (status >= 300) throw new Error(`Refused with ${status}: ${body.slice(0, 300)}`);
    idle.push(connection);
  }

  const began = performance.now();
  for (let n = 1; n <= last; n += 1) {
    const wait = began + (n * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((go) => setTimeout(go, wait));
    // One at a time: numbers must come in order to be told apart from lost ones.
    await posts.at(-1);
    posts.push(post(n));
  }
  await Promise.all(posts);
  await Promise.race([done, new Promise((late) => setTimeout(late, PATIENCE_MS))]);
  for (const stream of streams) stream.destroy();
  for (const connection of idle) connection.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  const expected = subscribers * (last - warm);
  return {
    expected,
    missing: expected - latencies.length + astray,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    worstMs: at(1),
  };
}

/** How long is waited for what has not come, in milliseconds. */
const PATIENCE_MS = 5_000;

/**
 * Reads a stream of server-sent events, and gives the numbers in it. As lean as {@link Connection}, since a hundred full
 * clients cost more than the server: sizes of chunks stand between the events, where nobody looks, as long as each event
 * is written whole. One that is not would be missed, and is counted.
 */
export async function subscribe(
  url: string,
  headers: Record<string, string>,
  onNumber: (n: number) => void,
  { method = "GET", body = "" }: { readonly method?: string; readonly body?: string } = {},
): Promise<Socket> {
  const { host, hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding("latin1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  const lines = { host, ...headers, "content-length": `${Buffer.byteLength(body)}` };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${head.join("")}\r\n${body}`);
  const [first] = (await once(socket, "data")) as [string];
  const status = first.slice(9, 12);
  if (status !== "200") throw new Error(`${method} ${url} gave ${status}.`);
  let text = "";
  const read = (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      for (const [, numbers = ""] of block.matchAll(NUMBERS))
        for (const number of numbers.trim().split(" ")) onNumber(Number(number));
    }
  };
  socket.on("data", read);
  read(first);
  return socket;
}

/** The text of tokens; several may have become one. */
const NUMBERS = /"delta":"((?:\d+ )+)"/g;
