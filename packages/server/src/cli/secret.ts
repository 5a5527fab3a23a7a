import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * A secret of the server's own, so that the tokens it signs outlive a restart: made at the first start and kept beside
 * the data, for its owner's eyes only. The directory must exist and be held by this process.
 */
export async function keptSecret(
  directory: string,
  name: "dev-secret" | "server-secret",
): Promise<Uint8Array> {
  const path = join(directory, name);
  try {
    return await read(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  await writeFile(path, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  return read(path);
}

async function read(path: string): Promise<Uint8Array> {
  const secret = new TextEncoder().encode((await readFile(path, "utf8")).trim());
  if (secret.length < 32) throw new Error(`${path} is damaged: delete it, and all tokens with it.`);
  return secret;
}
