import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The secret that development tokens are signed with, so that they outlive a restart: made at the first start and
 * kept beside the data, for its owner's eyes only. The directory must exist and be held by this process.
 */
export async function devSecret(directory: string): Promise<Uint8Array> {
  const path = join(directory, "dev-secret");
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
