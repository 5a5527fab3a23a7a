import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryStorage } from "../packages/server/src/storage/memory.ts";
import { openSqlite } from "../packages/server/src/storage/sqlite/open.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";

// Commits per second of the storage alone: writers that each commit one entry and wait for it, over and over.
//   node --conditions=@holdfast/source bench/storage.ts [--storage sqlite] [--in-flight 64] [--sessions 50]
//     [--seconds 5] [--bytes 150] [--rows 0] [--directory <parent of the temporary one>]
const { values } = parseArgs({
  options: {
    storage: { type: "string", default: "sqlite" },
    "in-flight": { type: "string", default: "64" },
    sessions: { type: "string", default: "50" },
    seconds: { type: "string", default: "5" },
    bytes: { type: "string", default: "150" },
    rows: { type: "string", default: "0" },
    directory: { type: "string", default: tmpdir() },
  },
});
const inFlight = Number(values["in-flight"]);
const json = JSON.stringify([{ type: "TEXT_MESSAGE_CONTENT", delta: "" }]);
const padded = json.replace('""', JSON.stringify("x".repeat(Number(values.bytes) - json.length)));
const changed = Array.from({ length: Number(values.rows) }, (_, index) => ({
  kind: "message",
  id: `m${index}`,
  value: padded,
}));

const directory = await mkdtemp(join(values.directory, "holdfast-bench-"));
const storage = values.storage === "memory" ? memoryStorage() : await openSqlite({ directory });
try {
  await measure(storage);
} finally {
  await storage[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
}

async function measure(storage: Storage): Promise<void> {
  const sessions = await Promise.all(
    Array.from({ length: Number(values.sessions) }, async (_, index) => {
      const session = `session-${index}`;
      await storage.append({ session, expect: null, head: offset(0), rows: [], due: [] });
      return { session, seq: 0 };
    }),
  );
  const delays: number[] = [];
  const start = performance.now();
  const end = start + Number(values.seconds) * 1000;
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let now = performance.now(); now < end;) {
        const one = sessions[(next += 1) % sessions.length];
        if (!one) return;
        await storage.append(commit(one));
        const after = performance.now();
        delays.push(after - now);
        now = after;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  delays.sort((a, b) => a - b);
  const at = (share: number) => (delays[Math.floor(delays.length * share)] ?? 0).toFixed(2);
  console.log(
    `${values.storage}: ${Math.round(delays.length / seconds)} commits/s, ${inFlight} in flight, ` +
      `${sessions.length} sessions; ms p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${delays.at(-1)?.toFixed(2)}`,
  );
}

function commit(one: { readonly session: string; seq: number }) {
  const after = offset(one.seq);
  const last = offset((one.seq += 1));
  const batch = { after, last, count: 1, json: padded };
  return { session: one.session, expect: after, head: last, batch, rows: changed, due: [] };
}

function offset(seq: number): string {
  return `ab12cd34.${String(seq).padStart(11, "0")}`;
}
