import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { bareDurable, durableStreams, echo, holdfast, type AppendLoad } from "./appends.ts";
import { agUi } from "./ag-ui.ts";
import { authority } from "./authority.ts";
import { faces } from "./faces.ts";
import { complaintOf, isKept, tableOf, type Limit } from "./limits.ts";
import type { LoadResult } from "./load.ts";
import { relay } from "./relay.ts";
import { timers, type TimersResult } from "./timers.ts";
import { withPeer } from "./with-peer.ts";

// Every line of a table is measured in the same run on the same machine, round by round in turn, so that what else the
// machine does falls on all alike. The median of the rounds counts.

const { values: args } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
    json: { type: "string" },
    "no-limits": { type: "boolean", default: false },
  },
});
const seconds = Number(args.seconds);
const rounds = Number(args.rounds);
const FEW: AppendLoad = { inFlight: 64, sessions: 50, seconds };
/** The least that durable appends are to be of the peer's, as a multiple. */
const LEAST_RATIO = 8;
/** The most of its events that a token stream may lose to the arbiter. */
const MOST_LOST = 0.15;
/** The longest that timers of one second may take. */
const LONGEST_MS = 1_500;

interface Line {
  readonly name: string;
  readonly what: string;
  readonly peer: string;
  run(url: string): Promise<LoadResult>;
}

const LINES: readonly Line[] = [
  {
    name: "holdfast",
    what: "SQLite, synchronous=FULL, 50 sessions",
    peer: "./peers/holdfast.ts",
    run: (url) => holdfast(url, FEW),
  },
  {
    name: "holdfast, 1,000 sessions",
    what: "the same over 1,000 sessions",
    peer: "./peers/holdfast.ts",
    run: (url) => holdfast(url, { ...FEW, sessions: 1_000 }),
  },
  {
    name: "durable-streams",
    what: "@durable-streams/server, its Node reference (a server for development and tests) with its file store, 50 streams; it fails above about 100 open ones",
    peer: "./peers/durable-streams.ts",
    run: (url) => durableStreams(url, FEW),
  },
  {
    name: "bare durable",
    what: "node:http that checks nothing and answers once SQLite has the body, synchronous=FULL, many to a commit: the ceiling of this disk",
    peer: "./peers/bare-durable.ts",
    run: (url) => bareDurable(url, FEW),
  },
  {
    name: "bare echo",
    what: "node:http that stores nothing: the ceiling of this load on this machine",
    peer: "./peers/echo.ts",
    run: (url) => echo(url, FEW),
  },
];

/** Slices of one round, off and on beside each other: only such neighbours are compared. */
const PAIRS = 6;
const AUTHORITY = {
  off: "64 agents that stream 100 tokens and a call a round, declare no tool and claim nothing",
  on: "the same events, with the tool's schema declared, arguments validated, every call claimed, and one command for each refused and audited",
};

type Slice = LoadResult & { readonly cpuUs: number };
type Pair = Record<keyof typeof AUTHORITY, Slice>;
const pairs: Pair[] = [];
const fired: TimersResult[] = [];
const results = new Map<string, LoadResult[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const line of LINES) {
    const result = await withPeer(line.peer, (url) => line.run(url));
    results.set(line.name, [...(results.get(line.name) ?? []), result]);
    process.stderr.write(`round ${round + 1}  ${line.name}: ${Math.round(result.perSecond)}/s\n`);
  }
  await withPeer("./peers/holdfast.ts", async (url, cpuMs) => {
    const measure = async (on: boolean): Promise<Slice> => {
      const before = await cpuMs();
      const load = await authority(url, { inFlight: FEW.inFlight, seconds: seconds / 2, on });
      return { ...load, cpuUs: ((await cpuMs()) - before) * (1000 / load.acknowledged) };
    };
    await measure(true); // the first is slower than all others
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const isOnFirst = pair % 2 === 1;
      const first = await measure(isOnFirst);
      const second = await measure(!isOnFirst);
      const made = isOnFirst ? { off: second, on: first } : { off: first, on: second };
      pairs.push(made);
      const [time, work] = [lostIn(made), moreIn(made)];
      process.stderr.write(
        `round ${round + 1}  authority: ${percent(time)} lost, ${percent(work)} more work\n`,
      );
    }
  });
  const result = await withPeer("./peers/holdfast.ts", timers);
  fired.push(result);
  process.stderr.write(`round ${round + 1}  timers: all after ${result.allMs} ms\n`);
}

const baseline = median("durable-streams").perSecond;
const table = LINES.map(({ name, what }) => {
  const { perSecond, p50Ms, p99Ms } = median(name);
  return { name, what, perSecond, p50Ms, p99Ms, ratio: perSecond / baseline };
});
console.log("\nDurable single-event appends over HTTP, 64 in flight\n");
console.log("| | appends/s | p50 ms | p99 ms | x durable-streams |");
console.log("|---|---:|---:|---:|---:|");
for (const { name, perSecond, p50Ms, p99Ms, ratio } of table) {
  console.log(
    `| ${name} | ${Math.round(perSecond)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${ratio.toFixed(1)} |`,
  );
}
console.log();
for (const { name, what } of table) console.log(`${name}: ${what}.`);

const middle = Math.floor(pairs.length / 2);
const typical = pairs.toSorted((a, b) => lostIn(a) - lostIn(b))[middle];
const lost = typical ? lostIn(typical) : 0;
const more = pairs.map(moreIn).toSorted((a, b) => a - b)[middle] ?? 0;
const cost = (["off", "on"] as const).map((on) => ({
  name: `authority ${on}`,
  what: AUTHORITY[on],
  ...typical?.[on],
}));
console.log(
  "\nWhat authority costs a token stream over HTTP, 64 agents, each event acknowledged\n",
);
console.log("| | events/s | p50 ms | p99 ms | server's µs each |");
console.log("|---|---:|---:|---:|---:|");
for (const { name, perSecond = 0, p50Ms = 0, p99Ms = 0, cpuUs = 0 } of cost)
  console.log(
    `| ${name} | ${Math.round(perSecond)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${Math.round(cpuUs)} |`,
  );
console.log(
  `\n${percent(lost)} lost in the median of ${pairs.length} pairs; the server works ${percent(more)} more for each.`,
);
for (const { name, what } of cost) console.log(`${name}: ${what}.`);

const due = fired.toSorted((a, b) => a.allMs - b.allMs)[Math.floor(fired.length / 2)];
console.log("\nDeadlines of one second, one a millisecond, on the system's clock and SQLite\n");
console.log("| timers | all after ms | late: p50 ms | p99 ms | worst ms |");
console.log("|---:|---:|---:|---:|---:|");
if (due)
  console.log(`| ${due.timers} | ${due.allMs} | ${due.p50Ms} | ${due.p99Ms} | ${due.worstMs} |`);

const faced = await faces({ seconds, rounds });
console.log(`\n${faced.text}`);

const relayed = await relay({ seconds, rounds });
console.log(`\n${relayed.text}`);
const judged = agUi();
console.log(`\n${judged.text}`);

const limits: readonly Limit[] = [
  {
    what: "durable appends, as a multiple of durable-streams'",
    measured: table.find(({ name }) => name === "holdfast")?.ratio ?? Number.NaN,
    atLeast: LEAST_RATIO,
    show: (value) => `${value.toFixed(1)} x`,
  },
  {
    what: "events/s that a token stream loses to authority",
    measured: typical ? lost : Number.NaN,
    atMost: MOST_LOST,
    show: percent,
  },
  {
    what: `${due?.timers ?? 0} timers of one second, all after`,
    measured: due?.allMs ?? Number.NaN,
    atMost: LONGEST_MS,
    show: (value) => `${Math.round(value)} ms`,
  },
  ...faced.limits,
  ...relayed.limits,
  ...judged.limits,
];
console.log(`\nLimits\n\n${tableOf(limits)}`);
const missed = limits.filter((limit) => !isKept(limit));

const report = {
  at: new Date().toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  inFlight: FEW.inFlight,
  seconds,
  rounds,
  appends: table,
  authority: { lines: cost, lost, mostLost: MOST_LOST, more, pairs: pairs.length },
  timers: { ...due, longestMs: LONGEST_MS },
  faces: faced.report,
  relay: relayed.report,
  agUi: judged.report,
  limits: limits.map((limit) => ({ ...limit, kept: isKept(limit) })),
};
if (args.json) await writeFile(args.json, `${JSON.stringify(report, null, 2)}\n`);
for (const limit of missed) console.error(complaintOf(limit));
if (missed.length > 0 && !args["no-limits"]) process.exitCode = 1;

/** The share of its events/s that a stream loses. */
function lostIn({ on, off }: Pair): number {
  return 1 - on.perSecond / off.perSecond;
}

/** How much more processor time the server takes for an event. */
function moreIn({ on, off }: Pair): number {
  return on.cpuUs / off.cpuUs - 1;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function median(name: string): LoadResult {
  const sorted = (results.get(name) ?? []).toSorted((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error(`${name} was not measured.`);
  return middle;
}
