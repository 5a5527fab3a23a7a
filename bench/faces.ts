import { durableStreamsFanout, holdfastFanout, type FanoutResult } from "./fanout.ts";
import type { Limit } from "./limits.ts";
import { BATCH, socketAppends, socketEcho, type SocketResult } from "./sockets.ts";
import { withPeer } from "./with-peer.ts";

/** What the WebSocket and the stream of server-sent events came to. */
export interface Faces {
  /** For people. */
  readonly text: string;
  readonly limits: readonly Limit[];
  readonly report: object;
}

const SOCKETS = { sessions: 64, sockets: 4, inFlight: 48 };
/** The least of the echo's events that are to become durable. */
const LEAST_SHARE = 0.5;
/** Slices of one round, peer and echo beside each other: only such neighbours are compared. */
const PAIRS = 3;
const FANOUT = { subscribers: 100, perSecond: 50 };
const MOST_P50_MS = 4;
const MOST_P99_MS = 12;

interface Pair {
  readonly echo: SocketResult;
  readonly holdfast: SocketResult;
}

/** Measures both, several rounds of `seconds` each; the median counts, of pairs by their ratio, of fan-outs by p99. */
export async function faces({
  seconds,
  rounds,
}: {
  readonly seconds: number;
  readonly rounds: number;
}): Promise<Faces> {
  const pairs: Pair[] = [];
  const fanouts: Record<"holdfast" | "durable-streams", FanoutResult[]> = {
    holdfast: [],
    "durable-streams": [],
  };
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < PAIRS; n += 1) {
      // As long as the others: a server that was just started is compiled while it is measured.
      const load = { ...SOCKETS, seconds };
      const echo = await withPeer("./peers/ws-echo.ts", (url, cpuMs) =>
        socketEcho(url, { ...load, cpuMs }),
      );
      const holdfast = await withPeer("./peers/holdfast.ts", (url, cpuMs) =>
        socketAppends(url, { ...load, cpuMs }),
      );
      pairs.push({ echo, holdfast });
      say(round, `sockets: ${Math.round(holdfast.perSecond)}/s, ${share({ echo, holdfast })}`);
    }
    const load = { ...FANOUT, seconds };
    const ours = await withPeer("./peers/holdfast.ts", (url) => holdfastFanout(url, load));
    const theirs = await withPeer("./peers/durable-streams.ts", (url) =>
      durableStreamsFanout(url, load),
    );
    fanouts.holdfast.push(ours);
    fanouts["durable-streams"].push(theirs);
    say(round, `fan-out: p50 ${ms(ours.p50Ms)}, p99 ${ms(ours.p99Ms)}`);
  }
  const pair = middle(pairs, ratioOf);
  const ours = middle(fanouts.holdfast, ({ p99Ms }) => p99Ms);
  const theirs = middle(fanouts["durable-streams"], ({ p99Ms }) => p99Ms);
  const missing = fanouts.holdfast.reduce((sum, it) => sum + it.missing, 0);
  return {
    text: [socketsTable(pair, pairs.length), fanoutTable(ours, theirs)].join("\n\n"),
    limits: [
      {
        what: "durable events/s over WebSockets, of a bare echo's",
        measured: pair ? ratioOf(pair) : Number.NaN,
        atLeast: LEAST_SHARE,
        show: percent,
      },
      { what: "fan-out p50", measured: ours?.p50Ms ?? Number.NaN, atMost: MOST_P50_MS, show: ms },
      { what: "fan-out p99", measured: ours?.p99Ms ?? Number.NaN, atMost: MOST_P99_MS, show: ms },
      { what: "events missing from the fan-out", measured: missing, atMost: 0, show: String },
    ],
    report: { sockets: { ...SOCKETS, batch: BATCH, pairs }, fanout: { ...FANOUT, fanouts } },
  };
}

function socketsTable(pair: Pair | undefined, pairs: number): string {
  const { sessions, sockets, inFlight } = SOCKETS;
  const line = (name: string, { perSecond, p50Ms, p99Ms, cpuUs }: SocketResult) =>
    `| ${name} | ${Math.round(perSecond)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${Math.round(cpuUs)} |`;
  return [
    `Token events over WebSockets, ${BATCH} a frame, ${sessions} sessions on ${sockets} sockets, ${inFlight} frames of each on their way`,
    "",
    "| | events/s | p50 ms | p99 ms | server's µs a frame |",
    "|---|---:|---:|---:|---:|",
    ...(pair ? [line("holdfast", pair.holdfast), line("bare ws echo", pair.echo)] : []),
    "",
    `The median pair of ${pairs} by ratio. holdfast: an event counts once it is acknowledged as durable, SQLite, synchronous=FULL.`,
    "bare ws echo: the same frames, sent back as they came by a server that does nothing else.",
  ].join("\n");
}

function fanoutTable(ours: FanoutResult | undefined, theirs: FanoutResult | undefined): string {
  const line = (name: string, it: FanoutResult | undefined) =>
    it
      ? [
          `| ${name} | ${it.p50Ms.toFixed(1)} | ${it.p99Ms.toFixed(1)} | ${it.worstMs.toFixed(1)} | ${it.missing} |`,
        ]
      : [];
  return [
    `${FANOUT.subscribers} subscribers over server-sent events, ${FANOUT.perSecond} events/s, durable: from append sent to event received`,
    "",
    "| | p50 ms | p99 ms | worst ms | missing |",
    "|---|---:|---:|---:|---:|",
    ...line("holdfast", ours),
    ...line("durable-streams", theirs),
  ].join("\n");
}

function ratioOf({ echo, holdfast }: Pair): number {
  return holdfast.perSecond / echo.perSecond;
}

function share(pair: Pair): string {
  return `${percent(ratioOf(pair))} of the echo's`;
}

function middle<T>(results: readonly T[], by: (result: T) => number): T | undefined {
  return results.toSorted((a, b) => by(a) - by(b))[Math.floor(results.length / 2)];
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function say(round: number, what: string): void {
  process.stderr.write(`round ${round + 1}  ${what}\n`);
}
