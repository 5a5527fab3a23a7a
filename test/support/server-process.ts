import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../packages/server/src/cli/main.ts", import.meta.url));

/** A Holdfast server in a process of its own, which a test may kill. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends it at once and without a word, as a power cut would. */
  kill(): Promise<void>;
}

/** Starts `holdfast dev` on a directory and waits until it answers. */
export async function startServer(options: {
  readonly data: string;
  readonly port: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}): Promise<ServerProcess> {
  const { data, port, args = [], env } = options;
  const command = [
    "--conditions=@holdfast/source",
    MAIN,
    "dev",
    "--data",
    data,
    "--port",
    String(port),
    ...args,
  ];
  const child = spawn(process.execPath, command, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const url = `http://127.0.0.1:${port}`;
  const ended = once(child, "close");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  while (!(await answers(url))) {
    if (child.exitCode !== null)
      throw new Error(`The server ended with ${child.exitCode}:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { url, child, kill, [Symbol.asyncDispose]: kill };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // refused: not listening yet
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (typeof address !== "object" || !address) throw new Error("No port could be had.");
  return address.port;
}
