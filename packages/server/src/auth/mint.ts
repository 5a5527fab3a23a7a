import { createPrivateKey, randomUUID, type JsonWebKey, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { wrongGrants, type Grant } from "./grants.ts";
import { isPrincipal } from "./identity.ts";
import { secretOf } from "./keys.ts";
import { MAX_LIFETIME } from "./limits.ts";

/** What a token is made of. One of `secret` and `privateKey` signs it. */
export interface MintOptions {
  /** The server's secret, at least 32 bytes: HS256. */
  readonly secret?: Uint8Array;
  /** PEM (PKCS #8) or a JWK: RSA signs RS256, P-256 ES256. */
  readonly privateKey?: string | JsonWebKey;
  /** Names the key, where the server knows several. */
  readonly keyId?: string;
  /** Who it is for: `user:<name>`, `agent:<name>` or `app:<name>`. */
  readonly principal: string;
  readonly grants: readonly Grant[];
  /** How long it holds, in milliseconds; at most 366 days. Default one hour. */
  readonly ttlMs?: number;
  readonly issuer?: string;
  readonly audience?: string;
  /** The token's id, by which it can be revoked. Default: a new one. */
  readonly tokenId?: string;
  /** Unix milliseconds. Default: this machine's clock. */
  readonly now?: () => number;
}

/**
 * A token for an application's back end to give to its people. Needs no server, only its key.
 *
 * @throws RangeError for a principal, grant, time or key that no server would take
 */
export async function mintToken(options: MintOptions): Promise<string> {
  const { principal, grants, issuer, audience, ttlMs = 3_600_000, now = Date.now } = options;
  if (!isPrincipal(principal)) {
    throw new RangeError(
      `A principal is user:<name>, agent:<name> or app:<name> of at most 262 characters, not ${principal}.`,
    );
  }
  const wrong = wrongGrants(grants);
  if (wrong !== undefined) throw new RangeError(`These grants are none: ${wrong}.`);
  if (!(ttlMs >= 1000 && ttlMs <= MAX_LIFETIME)) {
    throw new RangeError(`A token lasts from one second to 366 days, not ${ttlMs} ms.`);
  }
  const { alg, key } = signerOf(options);
  return sign(key, {
    alg,
    ...(options.keyId !== undefined && { kid: options.keyId }),
    claims: {
      grants,
      ...(issuer !== undefined && { iss: issuer }),
      ...(audience !== undefined && { aud: audience }),
    },
    principal,
    tokenId: options.tokenId ?? randomUUID(),
    now: now(),
    ttlMs,
  });
}

/** Signs what a token says, whatever it is. Times are whole seconds; it ends no later than asked. */
export function sign(
  key: Uint8Array | KeyObject,
  token: {
    readonly alg: string;
    readonly kid?: string;
    readonly claims: Record<string, unknown>;
    readonly principal: string;
    readonly tokenId: string;
    readonly now: number;
    readonly ttlMs: number;
  },
): Promise<string> {
  const { alg, kid, claims, principal, tokenId, now, ttlMs } = token;
  const issued = Math.floor(now / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
    .setSubject(principal)
    .setJti(tokenId)
    .setIssuedAt(issued)
    .setExpirationTime(issued + Math.floor(ttlMs / 1000))
    .sign(key);
}

function signerOf({ secret, privateKey }: MintOptions): {
  alg: string;
  key: Uint8Array | KeyObject;
} {
  if ((secret === undefined) === (privateKey === undefined)) {
    throw new RangeError("A token is signed with either a secret or a private key: give one.");
  }
  if (secret) return { alg: "HS256", key: secretOf(secret) };
  let key: KeyObject;
  try {
    key = createPrivateKey(
      typeof privateKey === "string" ? privateKey : { key: privateKey ?? {}, format: "jwk" },
    );
  } catch (cause) {
    throw new RangeError("The private key must be PEM or a JWK.", { cause });
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  if (asymmetricKeyType === "rsa") return { alg: "RS256", key };
  if (asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1") {
    return { alg: "ES256", key };
  }
  throw new RangeError("The private key must be RSA or P-256.");
}
