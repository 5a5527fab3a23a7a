import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

async function expectToRun(...args: string[]): Promise<void> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@holdfast/source", main, ...args],
    { timeout: 25_000 },
  );
  expect(stdout).toContain('Pay 5 for parking? {"amount":');
  expect(stdout).toContain("The call ended ok, approved by user:ana.");
  expect(stdout).toContain("The run is complete, after 3 runs of the agent.");
}

test("the example runs to its end, and checks its own result", async () => {
  await expectToRun();
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

test.skipIf(!hasPython)(
  "so it does with the agent in Python (skipped without python3)",
  async () => {
    const file = fileURLToPath(new URL("../agent.py", import.meta.url));
    const python = spawn("python3", [file, "0"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(python.stdout, "data")) as [Buffer];
      const [url = ""] = /http:\S+/.exec(line.toString()) ?? [];
      await expectToRun(url);
    } finally {
      python.kill("SIGKILL");
    }
  },
);
