import { writeSync } from "node:fs";
import { StorageError } from "../../src/storage/storage.ts";
import { openSqlite } from "../../src/storage/sqlite/open.ts";
import { addition, creation } from "../suites/commits.ts";

// A process for tests to kill: appends to the session "s" in the directory of its first argument, as often as its
// second says, and then rests. On standard output it says "open", then the number of each commit once it resolved, then
// "resting", or the reason of the error that ended it.
const [directory = "", commits = ""] = process.argv.slice(2);
const storage = await openSqlite({ directory });
await storage.append(creation("s"));
say("open");
try {
  for (let seq = 0; seq < Number(commits); seq += 4) {
    // Several at once, so that there is a group and one behind it.
    await Promise.all(
      [0, 1, 2, 3].map(async (offset) => {
        const rows = [{ kind: "k", id: "last", value: `${seq + offset + 1}${"x".repeat(5000)}` }];
        await storage.append(addition("s", seq + offset, seq + offset + 1, { rows }));
        say(`${seq + offset + 1}`);
      }),
    );
  }
  say("resting");
} catch (error) {
  say(error instanceof StorageError ? error.reason : String(error));
  const later = await storage.rows("s").catch((late: unknown) => late);
  say(later instanceof StorageError ? `then ${later.reason}` : "then alive");
  process.exit();
}

/** Writes at once, so that a line is out before anything else happens; a full pipe is waited for. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
  }
}
