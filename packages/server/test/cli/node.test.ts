import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** Runs the program as if Node had that version. */
function holdfast(version: string) {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const loaded = `data:text/javascript,${encodeURIComponent(pretend)}`;
  const args = ["--conditions=@holdfast/source", "--import", loaded, MAIN, "help"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stderr };
}

test("an older Node is refused with what to do", () => {
  expect(holdfast("22.20.0")).toEqual({
    status: 1,
    stderr: "holdfast: This is Node 22.20.0: install Node 24 or newer, and run it with that.\n",
  });
});

test.each(["24.0.0", "100.0.0"])("Node %s will do", (version) => {
  expect(holdfast(version)).toEqual({ status: 0, stderr: "" });
});
