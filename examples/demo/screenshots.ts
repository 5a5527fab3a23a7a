import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "vite";
import { launchBrowser } from "../../test/e2e/browser.ts";
import { pageConfig } from "./build-page.ts";

// Takes pictures of the gallery in both themes and at both ends of the widths, and prints where they are.
// Run: node --conditions=@holdfast/source examples/demo/screenshots.ts [part …]

const parts =
  process.argv.length > 2
    ? process.argv.slice(2)
    : ["page", "sheet", "empty", "name", "cards", "cards-open", "parts"];
const folder = await mkdtemp(join(tmpdir(), "holdfast-gallery-"));
const server = await createServer({ ...pageConfig, server: { port: 0, host: "127.0.0.1" } });
const browser = await launchBrowser();
try {
  await server.listen();
  const url = server.resolvedUrls?.local[0] ?? "";
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [360, 1280]) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      page.on("pageerror", (error) => console.error(`${page.url()}: ${error.message}`));
      for (const part of parts) {
        await page.goto(`${url}gallery.html?part=${part}`);
        await page.locator("#root > *").first().waitFor();
        if (part === "cards-open") {
          await page.evaluate(press, ".card-line[aria-expanded=false]");
          await page.evaluate(press, "details:not([open]) > summary");
        }
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (overflow > 0) console.error(`${part} at ${width}: ${overflow} px too wide`);
        const path = join(folder, `${part}-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: part.startsWith("cards") || part === "parts" });
        console.log(path);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.close();
}

/** Runs in the page: presses everything that matches as it is now. */
function press(selector: string): void {
  for (const element of document.querySelectorAll<HTMLElement>(selector)) element.click();
}
