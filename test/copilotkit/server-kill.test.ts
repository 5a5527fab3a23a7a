import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort, startServer } from "../support/server-process.ts";
import { startAgent } from "../support/told-agent.ts";
import { devToken } from "../support/wire.ts";
import { openBrowser } from "./browser.ts";
import { startRuntime } from "./runtimes.ts";
import { thread } from "./stage.ts";

it("the page sees no break where the server is killed in the middle of a run", async () => {
  const data = await mkdtemp(join(tmpdir(), "holdfast-copilotkit-"));
  const port = await freePort();
  const killed = await startServer({ data, port });
  try {
    const { url } = killed;
    const agentToken = await devToken(url, { agent: "demo" });
    await using agent = startAgent({ url, token: agentToken });
    const token = await devToken(url, { name: "ana" });
    const agentTokens = { demo: agentToken };
    await using runtime = await startRuntime({ mode: "runner", server: url, token, agentTokens });
    const session = thread();
    const browser = openBrowser(runtime.url, session);
    const said = browser.say("long");
    await browser.until("TEXT_MESSAGE_CONTENT");
    await killed.kill();
    await using _next = await startServer({ data, port });
    agent.go(session);
    await said;
    expect(browser.story()).toEqual(["user: long", "assistant: One. Two."]);
    expect(browser.types().filter((type) => type.startsWith("RUN_"))).toEqual([
      "RUN_STARTED",
      "RUN_FINISHED",
    ]);
    await browser.say("Ana");
    expect(browser.story().at(-1)).toBe("assistant: Hello, Ana.");
    expect(browser.errors).toEqual([]);
  } finally {
    await killed.kill();
    await rm(data, { recursive: true, force: true });
  }
});
