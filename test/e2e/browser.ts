import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Launches the system's Chromium, headless and kept off the network. The caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser(process.env["PATH"] ?? ""), args: flags });
}

/** Finds Chromium by name in the folders of `path`. Throws, saying what to install, when there is none. */
export function findBrowser(path: string): string {
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder, name);
      if (folder !== "" && isExecutable(file)) return file;
    }
  }
  throw new Error(
    `None of ${names.join(", ")} is on PATH. Install Chromium (Debian: apt-get install chromium) and run again.`,
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
