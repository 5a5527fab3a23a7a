import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { keepRunning, type Child } from "./child.ts";

export interface DemoOptions {
  readonly port: number;
  /** Where sessions are kept. */
  readonly data: string;
  /** The built page. */
  readonly pages: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

/** A server and an agent, each started again whenever it dies. */
export interface Demo {
  readonly url: string;
  readonly server: Child;
  readonly agent: Child;
  /** Ends both and waits until they are gone. */
  stop(): Promise<void>;
}

/**
 * Starts the server, and the agent once the server answers. Resolves when the page can be opened.
 *
 * @throws {Error} when the server ends before it answers; it has said why. Nothing is left running then, nor when
 * `signal` was aborted meanwhile
 */
export async function startDemo(
  { port, data, pages, env = {}, log }: DemoOptions,
  signal: AbortSignal,
): Promise<Demo> {
  const url = `http://127.0.0.1:${port}`;
  const server = keepRunning({
    name: "The server",
    file: fileURLToPath(new URL("../server.ts", import.meta.url)),
    env: {
      ...env,
      HOLDFAST_PORT: String(port),
      HOLDFAST_PAGES: pages,
      HOLDFAST_DATA: data,
      // Kept over restarts of the server, so that nobody has to say their name again.
      HOLDFAST_SECRET: randomBytes(32).toString("base64url"),
    },
    log,
    mustStart: true,
  });
  const children = [server];
  // The agent first, so that it can still say goodbye to its server.
  const stop = async () => {
    for (const child of children.toReversed()) await child.stop();
  };
  try {
    await unlessAborted(server.ready, signal);
    const agent = keepRunning({
      name: "The agent",
      file: fileURLToPath(new URL("../agent.ts", import.meta.url)),
      env: { ...env, HOLDFAST_URL: url },
      log,
    });
    children.push(agent);
    const page = await fetch(url, { headers: { accept: "text/html" }, signal });
    if (!page.ok) throw new Error(`${url} answers ${page.status} instead of the page.`);
    return { url, server, agent, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      const abort = () => reject(new Error("The demo was stopped before it was ready."));
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
    }),
  ]);
}
