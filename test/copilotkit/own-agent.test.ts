import { afterAll, beforeAll, expect, it } from "vitest";
import { openBrowser } from "./browser.ts";
import type { Told } from "./messages.ts";
import { held, openStage, page, thread, type Stage } from "./stage.ts";

// The agent is the runtime's own, in its process; what it says is kept by Holdfast, which has nobody else to do the work.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ leaseMs: 1_000 });
  await stage.agent.stop({ graceMs: 0 });
});
afterAll(() => stage[Symbol.asyncDispose]());

const asked = (told: Told) => told.type === "asked" && told.said === "long";

it("keeps what the runtime's own agent says", async () => {
  await using runtime = await stage.start("own");
  const session = thread();
  const browser = openBrowser(runtime.url, session, [], { headers: { "x-tenant": "acme" } });
  await browser.say("Ana");
  await browser.say("Bo");
  // The agent is the one that the runtime made for the request.
  expect(runtime.told.filter(({ type }) => type === "asked")).toEqual([
    { type: "asked", said: "Ana", tenant: "acme" },
    { type: "asked", said: "Bo", tenant: "acme" },
  ]);
  const story = ["user: Ana", "assistant: Hello, Ana.", "user: Bo", "assistant: Hello, Bo."];
  expect(browser.story()).toEqual(story);
  expect((await held(stage.lab, session)).runs).toEqual([
    ["complete", "Hello, Ana."],
    ["complete", "Hello, Bo."],
  ]);
  await using other = await stage.start("own");
  const later = openBrowser(other.url, session);
  await later.connect();
  expect(later.story()).toEqual(story);
  expect([...browser.errors, ...later.errors]).toEqual([]);
});

it("has its frontend tool executed once, and its interrupt resumed", async () => {
  await using runtime = await stage.start("own");
  const session = thread();
  let executions = 0;
  const tool = page(async () => `here ${(executions += 1)}`, "frontend");
  const browser = openBrowser(runtime.url, session, [tool]);
  await browser.say("page");
  expect(browser.story().at(-1)).toBe("assistant: You said here 1.");
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
  expect(runtime.told.filter(({ type }) => type === "executed")).toHaveLength(1);
});

it("stops the agent", async () => {
  await using runtime = await stage.start("own");
  const session = thread();
  const browser = openBrowser(runtime.url, session);
  const said = browser.say("long");
  await browser.until("TEXT_MESSAGE_CONTENT");
  browser.stop();
  await said;
  await runtime.until(({ type }) => type === "stopped");
  expect((await held(stage.lab, session)).runs).toEqual([["cancelled", "One."]]);
});

it("goes on at another runtime where one is killed in the middle of a run", async () => {
  const session = thread();
  const before = await stage.start("own");
  const cut = openBrowser(before.url, session);
  const said = cut.say("long");
  await cut.until("TEXT_MESSAGE_CONTENT");
  await before.kill();
  await said;
  await using after = await stage.start("own");
  const browser = openBrowser(after.url, session);
  const connected = browser.connect();
  await after.until(asked);
  after.go();
  await connected;
  expect(browser.story()).toEqual(["user: long", "assistant: One. Two."]);
  expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
});

it("has its own runs back at once under the same name", async () => {
  const session = thread();
  const before = await stage.start("own", { name: "web-1" });
  const cut = openBrowser(before.url, session);
  const said = cut.say("long");
  await cut.until("TEXT_MESSAGE_CONTENT");
  await before.kill();
  await said;
  await using after = await stage.start("own", { name: "web-1" });
  await after.until(asked);
  after.go();
  const browser = openBrowser(after.url, session);
  await browser.connect();
  expect(browser.story()).toEqual(["user: long", "assistant: One. Two."]);
});

it("lets the agent go on when its page has gone", async () => {
  await using runtime = await stage.start("own");
  const session = thread();
  const browser = openBrowser(runtime.url, session);
  const said = browser.say("long");
  await browser.until("TEXT_MESSAGE_CONTENT");
  await browser.leave();
  await said;
  runtime.go();
  expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
  expect(runtime.told.filter(({ type }) => type === "stopped")).toEqual([]);
});

it("does not ask the agent again where its tool may have run", async () => {
  const session = thread();
  const before = await stage.start("own");
  const cut = openBrowser(before.url, session);
  const said = cut.say("book");
  await before.until(({ type }) => type === "executed");
  await stage.lab.until(session, ({ calls }) =>
    [...calls.values()].some(({ status }) => status === "claimed"),
  );
  await before.kill();
  await said;
  await using after = await stage.start("own");
  const { runs } = await stage.lab.until(
    session,
    (state) => [...state.runs.values()].every(({ status }) => status === "ended") && state,
  );
  expect([...runs.values()]).toMatchObject([{ outcome: "error", error: { code: "agent_lost" } }]);
  expect(after.told.filter(({ type }) => type === "asked")).toEqual([]);
  const browser = openBrowser(after.url, session);
  await browser.connect();
  expect(browser.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent_lost" });
  await browser.say("Ana");
  expect(browser.story().at(-1)).toBe("assistant: Hello, Ana.");
});

it("runs an agent as CopilotKit builds them, and stops it", async () => {
  await using runtime = await stage.start("own");
  const session = thread();
  const browser = openBrowser(runtime.url, session, [], { agentId: "built" });
  await browser.say("Ana");
  expect(browser.story()).toEqual(["user: Ana", "assistant: Built for Ana."]);
  const said = browser.say("ever");
  await stage.lab.until(session, ({ items }) =>
    [...items.values()].some((item) => item.kind === "text" && item.text === "Built for ever."),
  );
  browser.stop();
  await said;
  await runtime.until(({ type }) => type === "stopped");
  expect((await held(stage.lab, session)).runs).toEqual([
    ["complete", "Built for Ana."],
    ["cancelled", "Built for ever."],
  ]);
  expect(browser.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
});
