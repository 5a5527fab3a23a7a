import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { freePort } from "../../examples/demo/supervisor/free-port.ts";

const start = fileURLToPath(new URL("../../examples/demo/start.ts", import.meta.url));

/** The demo as a process of its own, in a directory of its own. */
interface Started extends AsyncDisposable {
  readonly supervisor: ChildProcess;
  readonly data: string;
  /** Resolves with the first line that matches, of those to come and those that were. */
  line(pattern: RegExp): Promise<string>;
}

async function startDemo(env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const data = env["HOLDFAST_DATA"] ?? (await mkdtemp(join(tmpdir(), "holdfast-start-")));
  const port = await freePort(11_000 + Math.floor(Math.random() * 8_000), 50);
  const supervisor = fork(start, {
    execArgv: ["--conditions=@holdfast/source"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...process.env,
      OPENAI_API_KEY: "",
      ANTHROPIC_API_KEY: "",
      HOLDFAST_PORT: String(port),
      HOLDFAST_DATA: data,
      ...env,
    },
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    if (stream)
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        for (const look of waiting) look();
      });
  }
  return {
    supervisor,
    data,
    line: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      if (supervisor.exitCode === null && supervisor.signalCode === null) {
        supervisor.kill("SIGTERM");
        await once(supervisor, "exit");
      }
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Ids of the processes a process started, from Linux's own books. */
function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .map(Number)
    .filter((child) => child > 0);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe.runIf(process.platform === "linux")("what npm start runs", () => {
  test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
    "leaves nothing behind on %s",
    async (signal) => {
      await using demo = await startDemo();
      await demo.line(/http:\/\/127\.0\.0\.1:\d+$/);
      await demo.line(/the model is/);
      const children = childrenOf(demo.supervisor.pid);
      expect(children).toHaveLength(2);
      demo.supervisor.kill(signal);
      await once(demo.supervisor, "exit");
      await expect.poll(() => children.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    },
  );

  test("starts a child that was killed again, and says so in one line", async () => {
    await using demo = await startDemo();
    await demo.line(/the model is/);
    for (const pid of childrenOf(demo.supervisor.pid)) process.kill(pid, "SIGKILL");
    await demo.line(/The server ended \(SIGKILL\); starting it again\.$/);
    await demo.line(/The agent ended \(SIGKILL\); starting it again\.$/);
    const url = (await demo.line(/http:\/\/127\.0\.0\.1:\d+$/)).split(" ").at(-1) ?? "";
    await expect
      .poll(
        () =>
          fetch(`${url}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
  });

  test("a port or a directory in use is said with what to do", async () => {
    await using first = await startDemo();
    const url = await first.line(/http:\/\/127\.0\.0\.1:\d+$/);
    const port = url.split(":").at(-1) ?? "";
    await using onPort = await startDemo({ HOLDFAST_PORT: port });
    await onPort.line(new RegExp(`Port ${port} is taken: set HOLDFAST_PORT`));
    await once(onPort.supervisor, "exit");
    expect(onPort.supervisor.exitCode).toBe(1);

    const other = await startDemo({ HOLDFAST_DATA: first.data });
    await other.line(/set HOLDFAST_DATA to another directory/);
    if (other.supervisor.exitCode === null) await once(other.supervisor, "exit");
    expect(other.supervisor.exitCode).toBe(1);
  });
});
