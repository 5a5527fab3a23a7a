import { openSqlite } from "../storage/sqlite/open.ts";
import { readFlags } from "./flags.ts";
import { run } from "./run.ts";

/** `holdfast serve`: tokens come from whoever has the secret. */
export async function serve(args: readonly string[]): Promise<void> {
  const { data, port, host: hostname, ...options } = readFlags(args);
  const text = process.env["HOLDFAST_SECRET"];
  if (text === undefined || text === "") {
    throw new Error(
      "HOLDFAST_SECRET is not set: set it to at least 32 random bytes, such as `openssl rand -base64 32` prints. Tokens are signed with it.",
    );
  }
  const secret = new TextEncoder().encode(text);
  await using storage = await openSqlite({ directory: data });
  await run({ ...options, storage, secret, dev: false }, { port, hostname });
}
