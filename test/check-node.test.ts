import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("../scripts/check-node.mjs", import.meta.url));

/** Runs the check as if Node had that version. */
function check(version: string) {
  const pretend = `Object.defineProperty(process, "versions", { value: { node: "${version}" } });`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, SCRIPT];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stderr };
}

test.each(["10.24.1", "18.19.0", "23.11.0"])("Node %s is refused with what to do", (version) => {
  const { status, stderr } = check(version);
  expect(status).toBe(1);
  expect(stderr).toContain(`Holdfast needs Node 24 or newer; this is Node ${version}.`);
  expect(stderr).toContain("npm ci");
  expect(stderr).toContain("install Node 24");
});

test.each(["24.0.0", "26.1.0"])("Node %s will do", (version) => {
  expect(check(version)).toEqual({ status: 0, stderr: "" });
});
