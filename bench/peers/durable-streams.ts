import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DurableStreamTestServer } from "@durable-streams/server";

// The Node reference server of the Durable Streams protocol with its file store: log files and LMDB. Its authors call
// it a server for development and tests; it is the only one of theirs in TypeScript.
const dataDir = await mkdtemp(join(tmpdir(), "bench-durable-streams-"));
const server = new DurableStreamTestServer({
  port: 0,
  host: "127.0.0.1",
  dataDir,
  compression: false,
});
await server.start();
process.send?.({ url: server.url });
process.on("disconnect", () => void stop());

async function stop() {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  process.exit(0);
}
