import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { buildPage } from "./build-page.ts";
import { keepRunning, type Child } from "./supervisor/child.ts";
import { freePort } from "./supervisor/free-port.ts";

// What `npm start` runs: builds the page, keeps a server and an agent running, and takes both along when it ends.
// HOLDFAST_PORT and HOLDFAST_DATA say where; without them, port 4100 or the next free one, and .holdfast/demo.

const children: Child[] = [];
let stopping = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void stop(0));

try {
  await start();
} catch (error) {
  log(error instanceof Error ? error.message : String(error));
  await stop(1);
}

async function start(): Promise<void> {
  const asked = process.env["HOLDFAST_PORT"];
  const [port, pages] = await Promise.all([
    asked ? freePort(Number(asked), 1) : freePort(4100, 20),
    buildPage(),
  ]);
  if (stopping) return;
  const url = `http://127.0.0.1:${port}`;
  const server = keepRunning({
    name: "The server",
    file: fileURLToPath(new URL("server.ts", import.meta.url)),
    env: {
      HOLDFAST_PORT: String(port),
      HOLDFAST_PAGES: pages,
      HOLDFAST_DATA: process.env["HOLDFAST_DATA"] ?? ".holdfast/demo",
      // Kept over restarts of the server, so that nobody has to say their name again.
      HOLDFAST_SECRET: randomBytes(32).toString("base64url"),
    },
    log,
    onHopeless: () => void stop(1),
  });
  children.push(server);
  await server.ready;
  if (stopping) return;
  children.push(
    keepRunning({
      name: "The agent",
      file: fileURLToPath(new URL("agent.ts", import.meta.url)),
      env: { HOLDFAST_URL: url },
      log,
    }),
  );
  await pageAnswers(url);
  log(url);
}

async function pageAnswers(url: string): Promise<void> {
  const response = await fetch(url, { headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`${url} answers ${response.status} instead of the page.`);
}

/** Ends the children, waits for them, and leaves. */
async function stop(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  // The agent first, so that it can still say goodbye to its server.
  for (const child of children.toReversed()) await child.stop();
  process.exit(code);
}

function log(line: string): void {
  console.log(`Holdfast demo: ${line}`);
}
