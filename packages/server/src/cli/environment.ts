import type { JsonWebKey } from "node:crypto";

/** The keys that the environment names: what a server checks tokens with. */
export interface EnvironmentKeys {
  readonly secret?: Uint8Array;
  readonly formerSecrets?: readonly Uint8Array[];
  readonly publicKeys?: readonly (string | JsonWebKey)[];
  readonly jwksUrl?: string;
}

/** A variable's value; one that is empty is not set. */
export function variable(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** @throws Error naming the variable that cannot be read */
export function readKeys(): EnvironmentKeys {
  const secret = variable("HOLDFAST_SECRET");
  const former = variable("HOLDFAST_FORMER_SECRETS");
  const keys = variable("HOLDFAST_PUBLIC_KEYS");
  const jwksUrl = variable("HOLDFAST_JWKS_URL");
  return {
    ...(secret !== undefined && { secret: bytesOf(secret) }),
    ...(former !== undefined && { formerSecrets: former.trim().split(/\s+/).map(bytesOf) }),
    ...(keys !== undefined && { publicKeys: keysIn(keys) }),
    ...(jwksUrl !== undefined && { jwksUrl }),
  };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** PEM blocks one after the other, or a JWK, or a JWK set. */
function keysIn(text: string): (string | JsonWebKey)[] {
  if (!text.trimStart().startsWith("{")) {
    const blocks = text.match(/-----BEGIN ([A-Z ]+)-----.+?-----END \1-----/gs);
    if (blocks) return blocks;
  } else {
    try {
      const value = JSON.parse(text) as JsonWebKey & { keys?: JsonWebKey[] };
      return Array.isArray(value.keys) ? value.keys : [value];
    } catch {
      // Said below, as of all that is none.
    }
  }
  throw new Error("HOLDFAST_PUBLIC_KEYS must hold PEM blocks, a JWK, or a JWK set.");
}
