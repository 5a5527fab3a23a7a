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
  expect(stdout).toContain('transfer {"amount":100} waits for a decision');
  expect(stdout).toContain('The call ended ok with {"type":"json","value":{"sent":100}}.');
  expect(stdout).toContain("The run is complete");
});
