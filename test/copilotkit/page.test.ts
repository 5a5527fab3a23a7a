import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPages, type Pages } from "./pages.ts";
import type { Runtime } from "./runtimes.ts";
import { held, openStage, thread, type Stage } from "./stage.ts";

// CopilotKit's React components as they are published, in Chromium, at an origin that is not the runtime's.

let stage: Stage;
let pages: Pages;
let runtime: Runtime;
beforeAll(async () => {
  stage = await openStage();
  pages = await openPages();
  runtime = await stage.start("runner");
}, 180_000);
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

describe("CopilotKit's page", () => {
  it("shows a conversation, and all of it once more when it is reloaded", async () => {
    const visit = await pages.visit(runtime.url, thread());
    await visit.say("Ana");
    await visit.hear("Hello, Ana.");
    await visit.page.reload();
    await visit.hear("Hello, Ana.");
    await visit.say("Bo");
    await visit.hear("Hello, Bo.");
    expect(await visit.conversation()).toEqual(["Ana", "Hello, Ana.", "Bo", "Hello, Bo."]);
    expect(visit.errors).toEqual([]);
  });

  it("executes its tool, and not again when it is reloaded", async () => {
    const session = thread();
    const visit = await pages.visit(runtime.url, session);
    await visit.say("page");
    await visit.hear("You said here 1.");
    await visit.page.reload();
    await visit.hear("You said here 1.");
    await visit.say("page");
    await visit.hear("You said here 2.");
    expect((await held(stage.lab, session)).calls).toEqual([
      { name: "page", outcome: "ok", settledBy: "user:ana" },
      { name: "page", outcome: "ok", settledBy: "user:ana" },
    ]);
    expect(visit.errors).toEqual([]);
  });

  it("asks its person again after a reload, and at another runtime", async () => {
    const session = thread();
    const before = await stage.start("runner");
    const visit = await pages.visit(before.url, session);
    await visit.say("confirm");
    const yes = visit.page.getByRole("button", { name: "Yes" });
    await yes.waitFor();
    await visit.page.reload();
    await yes.waitFor();
    await before.kill();
    const later = await pages.visit(runtime.url, session);
    await later.press("Yes");
    await later.hear("You said yes.");
    expect(await later.conversation()).toEqual(["confirm", "Asked.", "You said yes."]);
    expect(await held(stage.lab, session)).toEqual({
      runs: [["complete", "You said yes."]],
      calls: [{ name: "confirm", outcome: "ok", settledBy: "user:ana" }],
    });
    expect([...visit.errors, ...later.errors]).toEqual([]);
  });

  it("asks what was interrupted again after a reload", async () => {
    const session = thread();
    const visit = await pages.visit(runtime.url, session);
    await visit.say("pay");
    await visit.page.getByRole("button", { name: "Approve" }).waitFor();
    await visit.page.reload();
    await visit.press("Approve");
    await visit.hear("It is paid.");
    expect((await held(stage.lab, session)).calls).toMatchObject([{ name: "pay", outcome: "ok" }]);
    expect(stage.agent.executed).toEqual(["pay"]);
    expect(visit.errors).toEqual([]);
  });

  it.each(["multi-route", "single-route"] as const)(
    "goes on with a run that it was reloaded in the middle of, by %s",
    async (mount) => {
      const session = thread();
      await using mounted = await stage.start("runner", { mount });
      const transport = mount === "single-route" ? "single" : undefined;
      const visit = await pages.visit(mounted.url, session, transport);
      await visit.say("long");
      await visit.hear("One.");
      await visit.page.reload();
      await visit.hear("One.");
      stage.agent.go(session);
      await visit.hear("One. Two.");
      expect(await visit.conversation()).toEqual(["long", "One. Two."]);
      expect((await held(stage.lab, session)).runs).toEqual([["complete", "One. Two."]]);
      expect(visit.errors).toEqual([]);
    },
  );

  it("stops a run", async () => {
    const session = thread();
    const visit = await pages.visit(runtime.url, session);
    await visit.say("long");
    await visit.hear("One.");
    await visit.page.getByTestId("copilot-send-button").click();
    expect((await held(stage.lab, session)).runs).toEqual([["cancelled", "One."]]);
    await visit.say("Ana");
    await visit.hear("Hello, Ana.");
    expect(visit.errors).toEqual([]);
  });
});
