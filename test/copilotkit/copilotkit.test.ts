import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser } from "./browser.ts";
import type { Runtime } from "./runtimes.ts";
import { held, openStage, page, thread, type Stage } from "./stage.ts";

describe.each(["url", "runner"] as const)("CopilotKit's runtime, by %s", (mode) => {
  let stage: Stage;
  let runtime: Runtime;
  beforeAll(async () => {
    stage = await openStage();
    runtime = await stage.start(mode);
  });
  afterAll(async () => {
    await runtime[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });

  it("says which agents it has", async () => {
    const response = await fetch(`${runtime.url}/info`);
    expect(await response.json()).toMatchObject({ agents: { demo: {} }, mode: "sse" });
  });

  it("shows what the agent says", async () => {
    const session = thread();
    const browser = openBrowser(runtime.url, session);
    await browser.say("Ana");
    expect(browser.story()).toEqual(["user: Ana", "assistant: Hello, Ana."]);
    await browser.say("Bo");
    expect(browser.story().slice(2)).toEqual(["user: Bo", "assistant: Hello, Bo."]);
    expect(browser.errors).toEqual([]);
    expect((await held(stage.lab, session)).runs).toEqual([
      ["complete", "Hello, Ana."],
      ["complete", "Hello, Bo."],
    ]);
  });

  it("has the page execute a frontend tool, once", async () => {
    const session = thread();
    let executions = 0;
    const tool = page(async () => `here ${(executions += 1)}`, "frontend");
    const browser = openBrowser(runtime.url, session, [tool]);
    await browser.say("page");
    expect(browser.story()).toEqual([
      "user: page",
      "[page]",
      "tool: here 1",
      "assistant: You said here 1.",
    ]);
    expect(browser.errors).toEqual([]);
    expect(await held(stage.lab, session)).toEqual({
      runs: [["complete", "You said here 1."]],
      calls: [{ name: "page", outcome: "ok", settledBy: "user:ana" }],
    });
  });

  it("takes what the page's failed tool says for an answer, with the next message", async () => {
    const session = thread();
    const tool = page(() => Promise.reject(new Error("No page.")), "frontend");
    const browser = openBrowser(runtime.url, session, [tool]);
    await browser.say("page");
    expect(browser.story()).toEqual(["user: page", "[page]", "tool: Error: No page."]);
    // Nothing was posted: the run waits, and the call is anybody's to answer.
    const waiting = await stage.lab.until(session, (state) => state);
    expect([...waiting.runs.values()]).toMatchObject([{ status: "suspended" }]);
    expect([...waiting.calls.values()]).toMatchObject([{ name: "page", status: "open" }]);
    await browser.say("Ana");
    expect(browser.story().slice(3)).toEqual([
      "assistant: You said Error: No page..",
      "user: Ana",
      "assistant: Hello, Ana.",
    ]);
    expect((await held(stage.lab, session)).calls).toEqual([
      { name: "page", outcome: "ok", settledBy: "user:ana" },
    ]);
  });

  it("waits for a person", async () => {
    const session = thread();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<string>();
    const tool = page(() => (asked.resolve(), answer.promise), "human-in-the-loop");
    const browser = openBrowser(runtime.url, session, [tool]);
    const said = browser.say("confirm");
    await asked.promise;
    await stage.lab.until(session, ({ runs }) =>
      [...runs.values()].some(({ status }) => status === "suspended"),
    );
    answer.resolve("yes");
    await said;
    expect(browser.story().at(-1)).toBe("assistant: You said yes.");
    expect((await held(stage.lab, session)).calls).toEqual([
      { name: "confirm", outcome: "ok", settledBy: "user:ana" },
    ]);
  });

  it.each([
    ["approves", { approved: true }, "It is paid.", ["pay"], "ok"],
    ["denies", { approved: false }, "It is not paid.", [], "denied"],
  ])("%s what was interrupted", async (_, payload, end, executed, outcome) => {
    const session = thread();
    const before = stage.agent.executed.length;
    const browser = openBrowser(runtime.url, session);
    await browser.say("pay");
    const interrupts = browser.agent.pendingInterrupts;
    expect(interrupts).toMatchObject([{ toolCallId: expect.any(String) as string }]);
    expect(stage.agent.executed.length).toBe(before);
    await browser.resume(
      interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload })),
    );
    expect(browser.story().at(-1)).toBe(`assistant: ${end}`);
    expect(browser.errors).toEqual([]);
    expect(stage.agent.executed.slice(before)).toEqual(executed);
    expect((await held(stage.lab, session)).calls).toMatchObject([{ name: "pay", outcome }]);
  });

  it("stops a run, wherever it is worked on", async () => {
    const session = thread();
    const browser = openBrowser(runtime.url, session);
    const said = browser.say("long");
    await browser.until("TEXT_MESSAGE_CONTENT");
    browser.stop();
    await said;
    expect((await held(stage.lab, session)).runs).toEqual([["cancelled", "One."]]);
    await browser.say("Ana");
    expect(browser.story().at(-1)).toBe("assistant: Hello, Ana.");
  });

  it("shows a run that is under way to who comes later", async () => {
    const session = thread();
    const first = openBrowser(runtime.url, session);
    const said = first.say("long");
    await first.until("TEXT_MESSAGE_CONTENT");
    const second = openBrowser(runtime.url, session);
    const connected = second.connect();
    await second.until("TEXT_MESSAGE_START");
    await first.leave();
    stage.agent.go(session);
    await connected;
    await said;
    expect(second.story()).toEqual(["user: long", "assistant: One. Two."]);
    expect(second.errors).toEqual([]);
    expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
  });
});
