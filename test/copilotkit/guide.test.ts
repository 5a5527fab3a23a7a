import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { freePort } from "../support/server-process.ts";
import { openBrowser } from "./browser.ts";
import manifest from "./package.json" with { type: "json" };
import { held, openStage, thread } from "./stage.ts";

const guide = readFileSync(new URL("../../docs/guides/copilotkit.md", import.meta.url), "utf8");

it("the guide has installed what these tests have", () => {
  const [, installed = ""] = /npm install @holdfast\/sdk (.*)/.exec(guide) ?? [];
  const had = Object.entries(manifest.devDependencies).map(
    ([name, version]) => `${name}@${version}`,
  );
  expect(had).toEqual(expect.arrayContaining(installed.split(" ")));
});

it("the guide's code runs as it stands there, one block after the other", async () => {
  await using stage = await openStage({ dev: true });
  const port = await freePort();
  const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  expect(blocks).toHaveLength(4);
  const code = blocks
    .join("\n")
    .replaceAll("http://127.0.0.1:4646", stage.lab.url)
    .replaceAll("4000", String(port));
  const flags = ["--conditions=@holdfast/source", "--input-type=module-typescript"];
  const child = spawn(process.execPath, [...flags, "--eval", `${code};console.log("done");`], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    env: { ...process.env, COPILOTKIT_TELEMETRY_DISABLED: "true", DO_NOT_TRACK: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const ended = once(child, "close").then(() => Promise.reject(new Error("It ended.")));
    await Promise.race([once(child.stdout, "data"), ended]);
    const session = thread();
    const browser = openBrowser(`http://127.0.0.1:${port}`, session);
    await browser.say("Ana");
    expect(browser.story()).toEqual(["user: Ana", "assistant: Hello, Ana."]);
    expect((await held(stage.lab, session)).runs).toEqual([["complete", "Hello, Ana."]]);
    ended.catch(() => {}); // it is meant to, now
  } finally {
    child.kill("SIGKILL");
  }
});
