import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

test("the example runs to its end, and checks its own result", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@holdfast/source", main],
    { timeout: 25_000 },
  );
  expect(stdout).toContain('Pay 5 for parking? {"amount":5} waits for a decision');
  expect(stdout).toContain("The call ended ok, approved by user:ana.");
  expect(stdout).toContain("The run is complete, after 3 runs of the agent.");
});
