import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Page, Request } from "playwright-core";
import { launchBrowser } from "../e2e/browser.ts";
import { buildPage } from "./build-page.ts";

/** CopilotKit's page at an address of its own, as most are served, and a browser to open it in. */
export interface Pages extends AsyncDisposable {
  /** Opens the page on a thread, as somebody who was never there. */
  visit(runtimeUrl: string, thread: string, transport?: "single"): Promise<Visit>;
}

/** Somebody at the page. */
export interface Visit {
  readonly page: Page;
  /** Errors that scripts threw. */
  readonly errors: string[];
  say(text: string): Promise<void>;
  /** Waits until something is said on the page. */
  hear(text: string): Promise<void>;
  /** Presses a button once it is there. */
  press(button: string): Promise<void>;
  /** What the conversation says. */
  conversation(): Promise<string[]>;
}

export async function openPages(): Promise<Pages> {
  const folder = await buildPage();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://page.test").pathname;
    const file = join(folder, path === "/" ? "index.html" : path);
    readFile(file).then(
      (bytes) => response.writeHead(200, { "content-type": TYPES[extname(file)] }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const browser = await launchBrowser();
  return {
    async visit(runtime, thread, transport) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const errors: string[] = [];
      page.on("pageerror", ({ message }) => errors.push(message));
      const asked = new URLSearchParams({ runtime, thread, ...(transport && { single: "" }) });
      // The page's input is another once it is connected: what was typed before is gone.
      const connected = page.waitForResponse((response) => isConnect(response.request()));
      await page.goto(`http://127.0.0.1:${port}/?${asked.toString()}`);
      await connected;
      return {
        page,
        errors,
        async say(text) {
          const input = page.getByTestId("copilot-chat-textarea");
          await input.fill(text);
          await input.press("Enter");
        },
        hear: (text) => page.getByText(text, { exact: true }).waitFor(),
        press: (button) => page.getByRole("button", { name: button, exact: true }).click(),
        async conversation() {
          const text = await page.getByTestId("copilot-message-list").innerText();
          return text.split("\n").filter((line) => line !== "");
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.close();
    },
  };
}

function isConnect(request: Request): boolean {
  const { method } = (request.method() === "POST" ? request.postDataJSON() : {}) as Envelope;
  return method === "agent/connect" || request.url().endsWith("/connect");
}

/** What is asked where one route is there for all. */
interface Envelope {
  readonly method?: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};
