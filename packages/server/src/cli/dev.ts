import { openSqlite } from "../storage/sqlite/open.ts";
import { readFlags } from "./flags.ts";
import { run } from "./run.ts";
import { keptSecret } from "./secret.ts";

/** `holdfast dev`: one machine, one person, names without passwords. */
export async function dev(args: readonly string[]): Promise<void> {
  const { data, port, ...options } = readFlags(args);
  await using storage = await openSqlite({ directory: data });
  const secret = await keptSecret(data, "dev-secret");
  await run({ ...options, storage, secret, dev: true }, { port, hostname: "127.0.0.1" });
}
