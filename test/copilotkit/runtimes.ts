import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Go, Setup, Told } from "./messages.ts";

const MAIN = fileURLToPath(new URL("runtime-process.ts", import.meta.url));

/** CopilotKit's runtime in a process of its own. */
export interface Runtime extends AsyncDisposable {
  readonly url: string;
  /** All it told, in order. */
  readonly told: readonly Told[];
  /** Resolves once its agent was asked, or did, as given. */
  until(isWanted: (told: Told) => boolean): Promise<Told>;
  /** Lets its own agent go on. */
  go(): void;
  /** Ends it at once and without a word. Rejects where it reached for anything beyond this machine. */
  kill(): Promise<void>;
}

export async function startRuntime(setup: Setup): Promise<Runtime> {
  const child = fork(MAIN, {
    execArgv: ["--conditions=@holdfast/source"],
    env: {
      ...process.env,
      SETUP: JSON.stringify(setup),
      COPILOTKIT_TELEMETRY_DISABLED: "true",
      DO_NOT_TRACK: "1",
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const told: Told[] = [];
  const wakes = new Set<() => void>();
  const wake = () => {
    for (const each of wakes) each();
    wakes.clear();
  };
  child.on("message", (message) => {
    told.push(message as Told);
    wake();
  });
  const closed = once(child, "close").then(wake);
  const until = async (isWanted: (told: Told) => boolean): Promise<Told> => {
    for (;;) {
      const found = told.find(isWanted);
      if (found) return found;
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`The runtime ended:\n${output}`);
      }
      await new Promise<void>((resolve) => wakes.add(resolve));
    }
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await closed;
    const outside = told.flatMap((it) => (it.type === "outside" ? it.address : []));
    if (outside.length > 0) throw new Error(`The runtime reached for ${outside.join(", ")}.`);
  };
  const listening = await until(({ type }) => type === "listening");
  return {
    url: listening.type === "listening" ? listening.url : "",
    told,
    until,
    go: () => void child.send({ type: "go" } satisfies Go),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
