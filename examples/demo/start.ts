import { buildPage } from "./build-page.ts";
import { startDemo } from "./supervisor/demo.ts";
import { freePort } from "./supervisor/free-port.ts";

// What `npm start` runs: builds the page, keeps a server and an agent running, and takes both along when it ends.
// HOLDFAST_PORT and HOLDFAST_DATA say where; without them, port 4100 or the next free one, and .holdfast/demo.

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => stopping.abort());
process.on("disconnect", () => stopping.abort());
if (process.env["npm_lifecycle_event"] === "start") stopWithParent();

try {
  const port = await choosePort(process.env["HOLDFAST_PORT"]);
  const pages = await buildPage();
  const data = process.env["HOLDFAST_DATA"] ?? ".holdfast/demo";
  const demo = await startDemo({ port, data, pages, log }, stopping.signal);
  log(demo.url);
  await stopped();
  await demo.stop();
} catch (error) {
  if (!stopping.signal.aborted) {
    log(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
// A channel to whoever started this keeps the process alive as long as it is listened to.
if (process.connected) process.disconnect();

function choosePort(asked: string | undefined): Promise<number> {
  if (asked === undefined || asked === "") return freePort(4100, 20);
  const port = Number(asked);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return freePort(port, 1);
  throw new Error(`HOLDFAST_PORT must be a port from 1 to 65535, not ${asked}.`);
}

/** npm passes a SIGTERM on to the shell it runs scripts in, which dies without telling anybody. */
function stopWithParent(): void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid !== parent) stopping.abort();
  }, 500);
  look.unref();
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.signal.aborted) resolve();
    stopping.signal.addEventListener("abort", () => resolve());
  });
}

function log(line: string): void {
  console.log(`Holdfast demo: ${line}`);
}
