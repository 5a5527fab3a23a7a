import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { durableStreams, echo, holdfast, type AppendLoad } from "./appends.ts";
import type { LoadResult } from "./load.ts";

// Every line of a table is measured in the same run on the same machine, round by round in turn, so that what else the
// machine does falls on all alike. The median of the rounds counts.

const { values: args } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
    json: { type: "string" },
  },
});
const seconds = Number(args.seconds);
const rounds = Number(args.rounds);
const FEW: AppendLoad = { inFlight: 64, sessions: 50, seconds };

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
    name: "bare echo",
    what: "node:http that stores nothing: the ceiling of this load on this machine",
    peer: "./peers/echo.ts",
    run: (url) => echo(url, FEW),
  },
];

const results = new Map<string, LoadResult[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const line of LINES) {
    const result = await withPeer(line.peer, (url) => line.run(url));
    results.set(line.name, [...(results.get(line.name) ?? []), result]);
    process.stderr.write(`round ${round + 1}  ${line.name}: ${Math.round(result.perSecond)}/s\n`);
  }
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
const report = {
  at: new Date().toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  inFlight: FEW.inFlight,
  seconds,
  rounds,
  appends: table,
};
if (args.json) await writeFile(args.json, `${JSON.stringify(report, null, 2)}\n`);

async function withPeer<T>(module: string, use: (url: string) => Promise<T>): Promise<T> {
  const child = fork(new URL(module, import.meta.url), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  try {
    const [message] = (await Promise.race([
      once(child, "message"),
      ended.then(() => {
        throw new Error(`${module} ended before it listened.`);
      }),
    ])) as [{ url: string }];
    return await use(message.url);
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}

function median(name: string): LoadResult {
  const sorted = (results.get(name) ?? []).toSorted((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error(`${name} was not measured.`);
  return middle;
}
