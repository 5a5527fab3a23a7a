import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser } from "./browser.ts";
import { held, openStage, page, thread, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

describe("a thread kept by the runner", () => {
  it("outlives its runtime in the middle of a run", async () => {
    const session = thread();
    const before = await stage.start("runner");
    const cut = openBrowser(before.url, session);
    const said = cut.say("long");
    await cut.until("TEXT_MESSAGE_CONTENT");
    await before.kill();
    await said;
    await using after = await stage.start("runner");
    const browser = openBrowser(after.url, session);
    const connected = browser.connect();
    await browser.until("TEXT_MESSAGE_START");
    expect(browser.story()).toEqual(["user: long", "assistant: One."]);
    stage.agent.go(session);
    await connected;
    expect(browser.story()).toEqual(["user: long", "assistant: One. Two."]);
    await browser.say("Ana");
    expect(browser.story().slice(2)).toEqual(["user: Ana", "assistant: Hello, Ana."]);
    expect(browser.errors).toEqual([]);
    expect((await held(stage.lab, session)).runs).toEqual([
      ["complete", "One. Two."],
      ["complete", "Hello, Ana."],
    ]);
  });

  it("waits for its person over page and runtime", async () => {
    const session = thread();
    const before = await stage.start("runner");
    const asked = Promise.withResolvers<void>();
    const never = page(() => (asked.resolve(), new Promise(() => {})), "human-in-the-loop");
    const closed = openBrowser(before.url, session, [never]);
    void closed.say("confirm");
    await asked.promise;
    await before.kill();
    await using after = await stage.start("runner");
    let asking = 0;
    const answers = page(async () => ((asking += 1), "yes"), "human-in-the-loop");
    const browser = openBrowser(after.url, session, [answers]);
    await browser.connect();
    expect(await held(stage.lab, session)).toEqual({
      runs: [["complete", "You said yes."]],
      calls: [{ name: "confirm", outcome: "ok", settledBy: "user:ana" }],
    });
    expect(asking).toBe(1);
  });

  it("has one answer where two pages give one each", async () => {
    const session = thread();
    await using one = await stage.start("runner");
    await using other = await stage.start("runner");
    const asking = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const words = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const first = openBrowser(one.url, session, [
      page(() => (asking[0].resolve(), words[0].promise), "human-in-the-loop"),
    ]);
    const said = first.say("confirm");
    await asking[0].promise;
    const second = openBrowser(other.url, session, [
      page(() => (asking[1].resolve(), words[1].promise), "human-in-the-loop"),
    ]);
    await second.connect();
    await asking[1].promise;
    words[0].resolve("yes");
    await said;
    words[1].resolve("no");
    await second.until("RUN_ERROR");
    expect(second.events.at(-1)).toMatchObject({ code: "already_answered" });
    await second.connect();
    for (const { story } of [first, second]) {
      expect(story()).toEqual([
        "user: confirm",
        "[confirm]",
        "tool: yes",
        "assistant: You said yes.",
      ]);
    }
    expect((await held(stage.lab, session)).runs).toEqual([["complete", "You said yes."]]);
  });

  it("has its interrupt answered at another runtime", async () => {
    const session = thread();
    const before = await stage.start("runner");
    const closed = openBrowser(before.url, session);
    await closed.say("pay");
    await before.kill();
    await using after = await stage.start("runner");
    const browser = openBrowser(after.url, session);
    await browser.connect();
    const resume = browser.agent.pendingInterrupts.map(({ id }) => {
      return { interruptId: id, status: "resolved", payload: { approved: true } } as const;
    });
    expect(resume).toHaveLength(1);
    await browser.resume(resume);
    expect(browser.story().at(-1)).toBe("assistant: It is paid.");
    expect((await held(stage.lab, session)).calls).toMatchObject([{ name: "pay", outcome: "ok" }]);
    expect(stage.agent.executed).toEqual(["pay"]);
  });

  it("is stopped at any runtime", async () => {
    const session = thread();
    await using one = await stage.start("runner");
    await using other = await stage.start("runner");
    const browser = openBrowser(one.url, session);
    const said = browser.say("long");
    await browser.until("TEXT_MESSAGE_CONTENT");
    const stop = () => fetch(`${other.url}/agent/demo/stop/${session}`, { method: "POST" });
    expect(await (await stop()).json()).toMatchObject({ stopped: true });
    await said;
    expect(browser.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
    expect((await held(stage.lab, session)).runs).toEqual([["cancelled", "One."]]);
    expect(await (await stop()).json()).toMatchObject({ stopped: false });
  });

  it("goes on before its page as if nothing were, when the server is restarted", async () => {
    const session = thread();
    await using runtime = await stage.start("runner");
    const browser = openBrowser(runtime.url, session);
    const said = browser.say("long");
    await browser.until("TEXT_MESSAGE_CONTENT");
    await stage.lab.restart();
    stage.agent.go(session);
    await said;
    expect(browser.story()).toEqual(["user: long", "assistant: One. Two."]);
    const runs = browser.types().filter((type) => type.startsWith("RUN_"));
    expect(runs).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
  });

  it("that is not there is empty, and a message that is refused says why", async () => {
    await using runtime = await stage.start("runner");
    const browser = openBrowser(runtime.url, thread());
    await browser.connect();
    expect([browser.events, browser.errors]).toEqual([[], []]);
    const session = thread();
    await openBrowser(runtime.url, session).say("pay");
    const unaware = openBrowser(runtime.url, session);
    await unaware.say("something else");
    expect(unaware.events).toMatchObject([{ type: "RUN_ERROR", code: "calls_pending" }]);
    expect(unaware.errors).toHaveLength(1);
  });
});

describe("a thread of a runtime pointed at a URL", () => {
  it("is lost to its runtime's next process, and none of it to Holdfast", async () => {
    const session = thread();
    const before = await stage.start("url");
    const cut = openBrowser(before.url, session);
    const said = cut.say("long");
    await cut.until("TEXT_MESSAGE_CONTENT");
    await before.kill();
    await said;
    await using after = await stage.start("url");
    const browser = openBrowser(after.url, session);
    await browser.connect();
    expect(browser.story()).toEqual([]);
    stage.agent.go(session);
    expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
    await browser.say("Ana");
    expect(browser.story()).toEqual([
      "user: long",
      "assistant: One. Two.",
      "user: Ana",
      "assistant: Hello, Ana.",
    ]);
  });
});
