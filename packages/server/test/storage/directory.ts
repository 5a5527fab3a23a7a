import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, onTestFinished } from "vitest";

/** A directory that goes when the test has finished. */
export function temporaryDirectory(): string {
  const directory = newDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A directory that goes when the file's tests have finished; called outside of them. */
export function sharedDirectory(): string {
  const directory = newDirectory();
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "holdfast-test-"));
}

/**
 * The files of a directory by name, each with a hash of its bytes. Nothing of this process may have one of them open
 * in SQLite, whose locks reading would drop.
 */
export function hashFiles(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory).map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(directory, name)))
        .digest("hex"),
    ]),
  );
}

/** A process that holds a storage open. */
export interface Writer extends AsyncDisposable {
  /**
   * Its next line of output, or undefined once it has ended.
   *
   * @throws with what it wrote to standard error, if it ended in another way than by itself or by `kill`.
   */
  line(): Promise<string | undefined>;
  /** Ends it without a word, as a crash would, and resolves with the lines that were still unread. */
  kill(): Promise<string[]>;
}

/**
 * Runs `writer.ts` on a directory.
 *
 * @param options.commits after how many commits it rests; by default it goes on without end.
 * @param options.command what to run it with, such as a shell that sets limits; Node and its arguments are appended.
 */
export function startWriter(
  directory: string,
  options: { readonly commits?: number; readonly command?: readonly string[] } = {},
): Writer {
  const script = join(import.meta.dirname, "writer.ts");
  const limit = `${options.commits ?? Infinity}`;
  const node = [process.execPath, "--conditions=@holdfast/source", script, directory, limit];
  const [file = "", ...rest] = [...(options.command ?? []), ...node];
  const child = spawn(file, rest, { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "close");
  let errors = "";
  let killed = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  async function line(): Promise<string | undefined> {
    const next = await lines.next();
    if (!next.done) return next.value;
    const [code, signal] = await exited;
    if (code === 0 || killed) return undefined;
    throw new Error(`The writer ended with ${code ?? signal}: ${errors}`);
  }

  async function kill(): Promise<string[]> {
    killed = true;
    child.kill("SIGKILL");
    const unread: string[] = [];
    for (let next = await line(); next !== undefined; next = await line()) unread.push(next);
    await exited;
    return unread;
  }

  return { line, kill, [Symbol.asyncDispose]: async () => void (await kill()) };
}
