import { openSqlite } from "../storage/sqlite/open.ts";
import { readKeys } from "./environment.ts";
import { readFlags } from "./flags.ts";
import { run } from "./run.ts";
import { keptSecret } from "./secret.ts";

/** `holdfast serve`: tokens come from whoever has a key that the environment names. */
export async function serve(args: readonly string[]): Promise<void> {
  const { data, port, host: hostname, ...options } = readFlags(args);
  const keys = readKeys();
  if (!keys.secret && !keys.publicKeys && keys.jwksUrl === undefined) {
    throw new Error(
      "There is no key to check tokens with. Set HOLDFAST_SECRET to at least 32 random bytes, such as `openssl rand -base64 32` prints, or HOLDFAST_PUBLIC_KEYS or HOLDFAST_JWKS_URL.",
    );
  }
  await using storage = await openSqlite({ directory: data });
  // Attempts' tokens are the server's own in any case.
  const secret = keys.secret ?? (await keptSecret(data, "server-secret"));
  await run({ ...options, ...keys, storage, secret, dev: false }, { port, hostname });
}
