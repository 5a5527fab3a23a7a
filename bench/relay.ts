import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { post, tokenOf } from "./appends.ts";
import { subscribe } from "./fanout.ts";
import type { Limit } from "./limits.ts";
import { withPeer } from "./with-peer.ts";

/** What it costs to have an AG-UI agent's events through Holdfast. */
export interface Relay {
  /** For people. */
  readonly text: string;
  readonly limits: readonly Limit[];
  readonly report: object;
}

interface RelayResult {
  readonly events: number;
  readonly missing: number;
  readonly directP50Ms: number;
  readonly relayedP50Ms: number;
  readonly relayedP99Ms: number;
}

const PER_SECOND = 50;
/** The most that a relayed event may take longer than one that is read from the agent. */
const MOST_ADDED_MS = 5;

/** Several rounds of `seconds` each; the median by what is added counts. */
export async function relay({
  seconds,
  rounds,
}: {
  readonly seconds: number;
  readonly rounds: number;
}): Promise<Relay> {
  const results: RelayResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const result = await measure(seconds);
    results.push(result);
    process.stderr.write(`round ${round + 1}  relay: ${addedBy(result).toFixed(2)} ms added\n`);
  }
  const typical = results.toSorted((a, b) => addedBy(a) - addedBy(b))[Math.floor(rounds / 2)];
  const missing = results.reduce((sum, it) => sum + it.missing, 0);
  const show = (value: number) => `${value.toFixed(2)} ms`;
  return {
    text: [
      `An AG-UI agent's tokens, ${PER_SECOND}/s: from sent to received, read from the agent and, in the same run, from Holdfast as server-sent events, durable`,
      "",
      "| | p50 ms | p99 ms |",
      "|---|---:|---:|",
      ...(typical
        ? [
            `| the agent itself | ${typical.directP50Ms.toFixed(2)} | |`,
            `| through holdfast | ${typical.relayedP50Ms.toFixed(2)} | ${typical.relayedP99Ms.toFixed(2)} |`,
          ]
        : []),
    ].join("\n"),
    limits: [
      {
        what: "p50 that the relay adds to an AG-UI agent's event",
        measured: typical ? addedBy(typical) : Number.NaN,
        atMost: MOST_ADDED_MS,
        show,
      },
      { what: "events missing from the relay", measured: missing, atMost: 0, show: String },
    ],
    report: { perSecond: PER_SECOND, rounds: results },
  };
}

function addedBy({ directP50Ms, relayedP50Ms }: RelayResult): number {
  return relayedP50Ms - directP50Ms;
}

/** One agent says the same to both, at once: each token's number is its text. */
async function measure(seconds: number): Promise<RelayResult> {
  const asked = new Map<string, { readonly response: ServerResponse; readonly runId: string }>();
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const agent = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const input = JSON.parse(Buffer.concat(chunks).toString()) as Input; // ours, or the peer's
      response.writeHead(200, { "content-type": "text/event-stream" });
      asked.set(input.threadId, { response, runId: input.runId });
      if (asked.size === 2) resolve();
    })();
  });
  agent.listen(0, "127.0.0.1");
  await once(agent, "listening");
  const { port } = agent.address() as AddressInfo; // it listens on a port
  const agentUrl = `http://127.0.0.1:${port}/`;
  try {
    return await withPeer(
      "./peers/holdfast.ts",
      async (url) => {
        const token = await tokenOf(url, { name: "bench" });
        const session = `${url}/v1/sessions/relayed`;
        await post(session, token, {}, "PUT");
        const relayed = listener();
        const direct = listener();
        const headers = { accept: "text/event-stream" };
        const authorization = `Bearer ${token}`;
        const stream = subscribe(`${session}/entries`, { ...headers, authorization }, (n) =>
          relayed.hear(n),
        );
        await stream;
        const message = { id: "go", type: "message.send", messageId: "m", content: "Go." };
        await post(`${session}/commands`, token, message);
        const own = subscribe(
          agentUrl,
          { ...headers, "content-type": "application/json" },
          (n) => direct.hear(n),
          {
            method: "POST",
            body: JSON.stringify({ threadId: "direct", runId: "direct", messages: [] }),
          },
        );
        await both;
        const sentAt = await say([...asked], seconds);
        await Promise.race([
          Promise.all([relayed.has(sentAt.length - 1), direct.has(sentAt.length - 1)]),
          new Promise((late) => setTimeout(late, PATIENCE_MS)),
        ]);
        for (const open of [await stream, await own]) open.destroy();
        return resultOf(sentAt, direct.at, relayed.at);
      },
      { BENCH_AGENT_URL: agentUrl },
    );
  } finally {
    agent.closeAllConnections();
    agent.close();
  }
}

interface Input {
  readonly threadId: string;
  readonly runId: string;
}

/** How long is waited for what has not come, in milliseconds. */
const PATIENCE_MS = 5_000;

/** When each number came first. */
function listener() {
  const at: number[] = [];
  const waits = new Map<number, () => void>();
  return {
    at,
    hear(n: number): void {
      at[n] ??= performance.now();
      waits.get(n)?.();
    },
    has(n: number): Promise<void> {
      if (at[n] !== undefined) return Promise.resolve();
      return new Promise((resolve) => waits.set(n, resolve));
    },
  };
}

/** Says a token to all, `PER_SECOND` times a second, and ends their runs. @returns when each was sent, from 1 */
async function say(
  asked: readonly (readonly [
    string,
    { readonly response: ServerResponse; readonly runId: string },
  ])[],
  seconds: number,
): Promise<number[]> {
  const write = (event: object) => {
    for (const [threadId, { response, runId }] of asked) {
      const named = "delta" in event ? event : { ...event, threadId, runId };
      response.write(`data: ${JSON.stringify(named)}\n\n`);
    }
  };
  write({ type: "RUN_STARTED" });
  for (const [, { response }] of asked) {
    response.write(`data: ${JSON.stringify({ type: "TEXT_MESSAGE_START", messageId: "t" })}\n\n`);
  }
  const sentAt: number[] = [];
  const began = performance.now();
  for (let n = 1; n <= PER_SECOND * (seconds + 1); n += 1) {
    const wait = began + (n * 1000) / PER_SECOND - performance.now();
    if (wait > 0) await new Promise((go) => setTimeout(go, wait));
    sentAt[n] = performance.now();
    write({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: `${n} ` });
  }
  for (const [, { response }] of asked) {
    response.write(`data: ${JSON.stringify({ type: "TEXT_MESSAGE_END", messageId: "t" })}\n\n`);
  }
  write({ type: "RUN_FINISHED" });
  for (const [, { response }] of asked) response.end();
  return sentAt;
}

/** The first second is not counted. */
function resultOf(
  sentAt: readonly number[],
  direct: readonly number[],
  relayed: readonly number[],
): RelayResult {
  const taken = (at: readonly number[]) =>
    sentAt
      .flatMap((sent, n) => (n > PER_SECOND && at[n] !== undefined ? [at[n] - sent] : []))
      .sort((a, b) => a - b);
  const [own, through] = [taken(direct), taken(relayed)];
  const share = (list: readonly number[], of: number) =>
    list[Math.floor((list.length - 1) * of)] ?? Number.NaN;
  const events = sentAt.length - 1 - PER_SECOND;
  return {
    events,
    missing: events - through.length,
    directP50Ms: share(own, 0.5),
    relayedP50Ms: share(through, 0.5),
    relayedP99Ms: share(through, 0.99),
  };
}
