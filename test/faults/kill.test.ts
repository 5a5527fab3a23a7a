import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { killRounds } from "./rounds.ts";

// What the kill tests rest on: a child on this Node, ready, then gone at once and without a word.
test("a killed child ends by the signal and runs no exit handler", async () => {
  for (let round = 0; round < killRounds(); round += 1) {
    const script = `process.on("exit", () => console.log("bye")); setInterval(() => {}, 1e6); console.log("up");`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    expect(output).toBe("up\n");
  }
});
