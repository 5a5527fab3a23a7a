import { expect, test } from "vitest";
import { findBrowser, launchBrowser } from "./browser.ts";

test("Chromium launches and renders a page", async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto("data:text/html,<title>held</title><p>fast</p>");
    expect(await page.title()).toBe("held");
    expect(await page.textContent("p")).toBe("fast");
  } finally {
    await browser.close();
  }
});

test("a missing browser is an error that says what to install", () => {
  expect(() => findBrowser("/nowhere")).toThrow("apt-get install chromium");
});
