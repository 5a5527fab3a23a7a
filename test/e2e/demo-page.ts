import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { buildPage } from "../../examples/demo/build-page.ts";
import { startDemo, type Demo } from "../../examples/demo/supervisor/demo.ts";
import { freePort } from "../../examples/demo/supervisor/free-port.ts";

/** The demo as `npm start` runs it, on a free port and a directory of its own, with the scripted model. */
export interface TestDemo extends AsyncDisposable {
  readonly demo: Demo;
  /** Ends all of it and starts it again on the same port and directory, as a person does with Ctrl-C. */
  restart(): Promise<void>;
}

export async function openDemo(options: { readonly paceMs?: number } = {}): Promise<TestDemo> {
  const data = await mkdtemp(join(tmpdir(), "holdfast-e2e-"));
  // Ephemeral ports begin higher, so that no connection of another test takes it in between.
  const port = await freePort(21_000 + Math.floor(Math.random() * 8_000), 50);
  const pages = await builtPage();
  const env = {
    OPENAI_API_KEY: "",
    ANTHROPIC_API_KEY: "",
    HOLDFAST_DEMO_PACE_MS: String(options.paceMs ?? 10),
  };
  const start = () =>
    startDemo({ port, data, pages, env, log: () => {} }, new AbortController().signal);
  let demo = await start();
  return {
    get demo() {
      return demo;
    },
    async restart() {
      await demo.stop();
      demo = await start();
    },
    async [Symbol.asyncDispose]() {
      await demo.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

let built: Promise<string> | undefined;

function builtPage(): Promise<string> {
  return (built ??= buildPage());
}

/** A person at the page, in a browser context of their own. */
export interface Visitor {
  readonly page: Page;
  /** Errors that scripts threw. */
  readonly errors: string[];
  ask(text: string): Promise<void>;
  readonly card: (tool: string) => Locator;
  readonly button: (name: string) => Locator;
}

/** Opens the page under a name; at `address`, else on a session of its own. */
export async function visit(
  browser: Browser,
  address: string,
  name: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(address);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Enter the session" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  return {
    page,
    errors,
    async ask(text) {
      await page.getByLabel("Message", { exact: true }).fill(text);
      await page.keyboard.press("Enter");
    },
    card: (tool) => page.locator(".card", { has: page.locator(".card-name", { hasText: tool }) }),
    button: (buttonName) => page.getByRole("button", { name: buttonName, exact: true }),
  };
}

/** What the conversation says, as a reader sees it, without what depends on when they look. */
export async function conversationOf(page: Page): Promise<string> {
  const text = await page.getByRole("region", { name: "Conversation" }).innerText();
  return text.replaceAll(/\b(You|Ana|Ben) · .*$/gm, "$1");
}
