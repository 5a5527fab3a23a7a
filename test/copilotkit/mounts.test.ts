import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser } from "./browser.ts";
import type { Runtime } from "./runtimes.ts";
import { held, openStage, page, thread, type Stage } from "./stage.ts";

// Pages of before CopilotKit's version 2, and those that are told to, have one route for everything.

describe.each(["single-route", "v1"] as const)("a runtime mounted as %s", (mount) => {
  let stage: Stage;
  let runtime: Runtime;
  beforeAll(async () => {
    stage = await openStage();
    runtime = await stage.start("runner", { mount });
  });
  afterAll(async () => {
    await runtime[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });
  const open = (session: string, tools: Parameters<typeof openBrowser>[2] = []) =>
    openBrowser(runtime.url, session, tools, { transport: "single" });

  it("has the page execute its tool, and what was interrupted resumed", async () => {
    const session = thread();
    const browser = open(session, [page(async () => "here", "frontend")]);
    await browser.say("page");
    expect(browser.story().at(-1)).toBe("assistant: You said here.");
    await browser.say("pay");
    const resume = browser.agent.pendingInterrupts.map(({ id }) => {
      return { interruptId: id, status: "resolved", payload: { approved: true } } as const;
    });
    await browser.resume(resume);
    expect(browser.story().at(-1)).toBe("assistant: It is paid.");
    expect(browser.errors).toEqual([]);
    expect((await held(stage.lab, session)).calls).toEqual([
      { name: "page", outcome: "ok", settledBy: "user:ana" },
      expect.objectContaining({ name: "pay", outcome: "ok" }),
    ]);
  });

  it("shows a run to who comes later, and stops it", async () => {
    const session = thread();
    const first = open(session);
    const said = first.say("long");
    await first.until("TEXT_MESSAGE_CONTENT");
    const second = open(session);
    const connected = second.connect();
    await second.until("TEXT_MESSAGE_START");
    expect(second.story()).toEqual(["user: long", "assistant: One."]);
    second.stop();
    await Promise.all([said, connected]);
    expect((await held(stage.lab, session)).runs).toEqual([["cancelled", "One."]]);
  });
});
