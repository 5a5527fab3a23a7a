import { createServer, openSqlite, StorageError } from "holdfast";
import { whenToStop } from "./supervisor/when-to-stop.ts";

// The demo's server, with its page on the same origin. Started by start.ts, which says where and with which secret.

const directory = process.env["HOLDFAST_DATA"] ?? ".holdfast/demo";
const port = Number(process.env["HOLDFAST_PORT"] ?? 4100);
const secret = process.env["HOLDFAST_SECRET"];
const pages = process.env["HOLDFAST_PAGES"];

const stopping = whenToStop();

try {
  await using storage = await openSqlite({ directory });
  await using server = createServer({
    storage,
    dev: true,
    ...(secret !== undefined && { secret: new TextEncoder().encode(secret) }),
    ...(pages !== undefined && { pages }),
    defaultAgent: "demo",
    leaseMs: 5_000,
    claimLeaseMs: 5_000,
    sseHeartbeatMs: 5_000,
  });
  const { url } = await server.listen({ port });
  process.send?.({ url });
  await new Promise<void>((resolve) => {
    if (stopping.aborted) resolve();
    stopping.addEventListener("abort", () => resolve());
  });
} catch (error) {
  console.error(`Holdfast demo: ${explain(error)}`);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StorageError && error.reason === "in_use")
    return `${message} Another demo may be running there: stop it, or set HOLDFAST_DATA to another directory.`;
  if (error instanceof StorageError)
    return `${message} Move ${directory} away, or set HOLDFAST_DATA to another directory.`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return `Port ${port} is taken: set HOLDFAST_PORT to another one, or to nothing for the next free one.`;
  return message;
}
