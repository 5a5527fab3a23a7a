import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, openSqlite } from "holdfast";

// Holdfast as it is served by default: SQLite, WAL, synchronous=FULL. The agent tokens come from the wire, as ever.
const directory = await mkdtemp(join(tmpdir(), "bench-holdfast-"));
const storage = await openSqlite({ directory });
// One principal makes all of the load: rates are counted, and let it pass.
const rate = { perSecond: 1_000_000, burst: 1_000_000 };
const limits = { commands: rate, attemptCommands: rate, sessions: rate };
const agent = process.env["BENCH_AGENT_URL"];
const agents = agent === undefined ? {} : { agents: { default: { url: agent } } };
const server = createServer({ storage, leaseMs: 600_000, limits, ...agents });
const { url } = await server.listen();
process.send?.({ url });
// How much processor time it has had, for whoever asks: other work on the machine changes that least.
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 });
});
process.on("disconnect", () => void stop());

async function stop() {
  await server.close();
  await storage[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
  process.exit(0);
}
