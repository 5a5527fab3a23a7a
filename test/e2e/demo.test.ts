import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { conversationOf, openDemo, visit, type TestDemo } from "./demo-page.ts";

let browser: Browser;
/** For tests that kill nothing, each in a session of its own. */
let shared: TestDemo;
beforeAll(async () => {
  browser = await launchBrowser();
  shared = await openDemo({ paceMs: 25 });
});
afterAll(async () => {
  await browser.close();
  await shared[Symbol.asyncDispose]();
});

describe("the demo, in Chromium", () => {
  test("text streams, and a reload in the middle joins it where it is", async () => {
    const lab = shared;
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Tell me a long story");
    await ana.page.getByText("Nobody had written the dates down").waitFor();
    expect(await ana.page.getByText("made the first crossing").count()).toBe(0);
    await ana.page.reload();
    await ana.page.getByText("Nobody had written the dates down").waitFor();
    await ana.page.getByText("they made the first crossing on time.").waitFor();
    await ana.page.locator('.run[data-status="ended"]').waitFor();
    expect(await ana.page.getByText("Once there was a ferry").count()).toBe(1);
    expect(ana.errors).toEqual([]);
  });

  test("two people share a session, and its client tool runs once", async () => {
    const lab = shared;
    const granted = {
      permissions: ["geolocation"],
      geolocation: { latitude: 59.91, longitude: 10.75 },
    };
    const ana = await visit(browser, lab.demo.url, "Ana", granted);
    const ben = await visit(browser, ana.page.url(), "Ben", granted);
    await ana.ask("Where am I?");
    const offers = [ana, ben].map((visitor) => visitor.button("Share location"));
    await Promise.all(offers.map((offer) => offer.waitFor()));
    // Both at once; whoever is late finds the button gone or its claim refused.
    await Promise.allSettled(offers.map((offer) => offer.click({ timeout: 2_000 })));
    for (const { page, card } of [ana, ben]) {
      await page.getByText("You are at 59.91, 10.75").waitFor();
      await card("location").getByRole("button").first().click();
      await card("location").getByText("History").click();
      expect(await card("location").getByText("Claimed by").count()).toBe(1);
      expect(await card("location").getByText("Answered by").count()).toBe(1);
    }
    expect([...ana.errors, ...ben.errors]).toEqual([]);
  });

  test("a page that is ignored, or that cannot say, holds nothing: another answers", async () => {
    const lab = shared;
    const ana = await visit(browser, lab.demo.url, "Ana");
    const ben = await visit(browser, ana.page.url(), "Ben", {
      permissions: ["geolocation"],
      geolocation: { latitude: 60.39, longitude: 5.32 },
    });
    await ana.ask("Where am I?");
    await ana.button("Share location").waitFor();
    await ben.button("Share location").waitFor();
    await ben.card("location").getByText("waiting for a device").waitFor();
    await ana.button("Share location").click();
    await ana.page.getByText("This browser was not allowed to say where it is.").waitFor();
    await ben.page.getByText("A device took it and gave no answer.").waitFor();
    await ben.button("Share location").click();
    for (const { page } of [ana, ben]) await page.getByText("You are at 60.39, 5.32").waitFor();
    expect([...ana.errors, ...ben.errors]).toEqual([]);
  });

  test("a browser that may not say where it is lets the person say it, as text", async () => {
    const lab = shared;
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Where am I?");
    await ana.button("Share location").click();
    const hostile = `<img src=x onerror="document.title='taken over'">`;
    await ana.page.getByLabel("Place").fill(hostile);
    await ana.button("Use this place").click();
    await ana.page.getByText("going by what was typed").waitFor();
    await ana.page.locator('.run[data-status="ended"]').waitFor();
    await ana.card("location").getByRole("button").first().click();
    await ana.card("location").getByLabel("Result").getByText(hostile).waitFor();
    expect(await ana.page.locator(".conversation img").count()).toBe(0);
    expect(await ana.page.title()).not.toBe("taken over");
    expect(ana.errors).toEqual([]);
  });

  test("an approval given in the second browser completes in the first and says by whom", async () => {
    const lab = shared;
    const ana = await visit(browser, lab.demo.url, "Ana");
    const ben = await visit(browser, ana.page.url(), "Ben");
    await ana.ask("Send 50 EUR to Cleo for lunch");
    await ana.button("Approve").waitFor();
    await ben.button("Edit").click();
    await ben.page.getByLabel("Amount").fill("45");
    await ben.button("Approve with 1 change").click();
    await ana.page.getByText("Ben approved with changes").waitFor();
    await ana.page.getByText("45.00 EUR went to Cleo").waitFor();
    expect(await ana.button("Approve").count()).toBe(0);

    await ben.ask("Send 70 EUR to Dan");
    await ana.button("Deny").click();
    await ana.page.getByLabel("Reason, told to the agent").fill("Too much.");
    await ana.button("Deny").click();
    await ben.page.getByText("Ana denied it. It did not run.").waitFor();
    await ben.page.getByText("The transfer to Dan was denied: “Too much.”").waitFor();
    expect([...ana.errors, ...ben.errors]).toEqual([]);
  });

  test("a reload in the middle of streaming arguments ends as if there had been none", async () => {
    await using lab = await openDemo({ paceMs: 300 });
    const ana = await visit(browser, lab.demo.url, "Ana");
    const ben = await visit(browser, ana.page.url(), "Ben");
    await ana.ask("Send 50 EUR to Cleo for lunch");
    const streaming = ana.page.locator('.card[data-status="streaming"]');
    await streaming.getByText("Everyday account").waitFor();
    await ana.page.reload();
    await streaming.waitFor();
    await ana.button("Approve").waitFor();
    await ben.button("Approve").waitFor();
    await expect
      .poll(async () => withoutNames(await conversationOf(ana.page)))
      .toBe(withoutNames(await conversationOf(ben.page)));
    await ana.button("Approve").click();
    await ben.page.getByText("50.00 EUR went to Cleo").waitFor();
    await ana.page.getByText("50.00 EUR went to Cleo").waitFor();
    await ana.page.locator('.run[data-status="ended"]').waitFor();
    await ben.page.locator('.run[data-status="ended"]').waitFor();
    await expect
      .poll(async () => withoutNames(await conversationOf(ana.page)))
      .toBe(withoutNames(await conversationOf(ben.page)));
    expect([...ana.errors, ...ben.errors]).toEqual([]);
  });

  test("a queued message can be taken back, and Stop ends the run before it", async () => {
    const lab = shared;
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Tell me a long story");
    await ana.page.getByText("Once there was a ferry").waitFor();
    await ana.ask("What is the weather in Oslo?");
    const queue = ana.page.getByLabel("Queued messages");
    await queue.getByText("What is the weather in Oslo?").waitFor();
    await ana.button("Take back").click();
    await queue.waitFor({ state: "detached" });
    await ana.page.getByLabel("Message", { exact: true }).press("Escape");
    await ana.page.getByText("Stopped.").waitFor();
    await ana.button("Send").waitFor();
    expect(await ana.card("weather").count()).toBe(0);
  });

  test("all of it stopped and started again: an open page goes on, approvals still wait", async () => {
    await using lab = await openDemo();
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Send 50 EUR to Cleo for lunch");
    await ana.button("Approve").waitFor();
    await lab.restart();
    await ana.page.getByText("live", { exact: true }).waitFor();
    await ana.button("Approve").click();
    await ana.page.getByText("50.00 EUR went to Cleo").waitFor();
    expect(ana.errors).toEqual([]);
  });

  test("Open as someone else asks for another name", async () => {
    const ana = await visit(browser, shared.demo.url, "Ana");
    const [page] = await Promise.all([
      ana.page.context().waitForEvent("page"),
      ana.page.getByRole("link", { name: "Open as someone else" }).click(),
    ]);
    await page.getByLabel("Name").waitFor();
    expect(page.url()).toBe(ana.page.url());
  });

  test("kill -9 of the agent and of the server in mid-text ends in one clean answer", async () => {
    await using lab = await openDemo({ paceMs: 25 });
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Tell me a long story");
    await ana.page.getByText("Nobody had written the dates down").waitFor();
    kill(lab.demo.agent.pid);
    // The new attempt takes the broken round back and tells it again, from its beginning.
    await ana.page.getByText("another took over (attempt 2)").waitFor();
    await ana.page.getByText("Nobody had written the dates down").waitFor();
    kill(lab.demo.server.pid);
    await ana.page.getByText(/^reconnecting/).waitFor();
    await ana.page.getByText("live", { exact: true }).waitFor();
    await ana.page.getByText("they made the first crossing on time.").waitFor();
    await ana.page.locator('.run[data-status="ended"]').waitFor();
    for (const line of ["Once there was a ferry", "At half past three", "made the first crossing"])
      expect(await ana.page.getByText(line).count()).toBe(1);
    await ana.ask("hello");
    await ana.page.getByText("I am a scripted stand-in").waitFor();
    expect(ana.errors).toEqual([]);
  });

  test("kill -9 of the agent in mid-arguments and in mid-execution leaves one call, and its end in words", async () => {
    await using lab = await openDemo({ paceMs: 200 });
    const ana = await visit(browser, lab.demo.url, "Ana");
    await ana.ask("Send 50 EUR to Cleo for lunch");
    const card = (status: string) => ana.page.locator(`.card[data-status="${status}"]`);
    await card("streaming").getByText("Everyday account").waitFor();
    kill(lab.demo.agent.pid);
    await ana.page.getByText("another took over (attempt 2)").waitFor();
    await ana.button("Approve").waitFor();
    expect(await ana.card("transfer").count()).toBe(1);
    await ana.button("Approve").click();
    await card("claimed").waitFor();
    kill(lab.demo.agent.pid);
    await card("settled").waitFor();
    await ana.page.locator('.run[data-status="ended"]').waitFor();
    expect(await ana.card("transfer").count()).toBe(1);
    await ana.card("transfer").getByText("so its outcome is unknown").waitFor();
    expect(await ana.page.getByText("went to Cleo").count()).toBe(0);
    expect(ana.errors).toEqual([]);
  });
});

function kill(pid: number | undefined): void {
  if (pid === undefined) throw new Error("It was not running.");
  process.kill(pid, "SIGKILL");
}

function withoutNames(text: string): string {
  return text.replaceAll(/\b(You|Ana)\b/g, "Ana");
}
