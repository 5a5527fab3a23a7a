import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import { HoldfastError, reject } from "@holdfast/protocol";
import { fetchKeys } from "./fetch-keys.ts";
import { isLoopback } from "./loopback.ts";
import { unauthenticated } from "./refusals.ts";

/** What tokens may be signed with. */
export interface KeyOptions {
  /** The server's own secret, which alone signs attempts' tokens; at least 32 bytes. */
  readonly secret: Uint8Array;
  /** Secrets whose tokens still hold, while the secret is being replaced. */
  readonly formerSecrets?: readonly Uint8Array[];
  /** Public keys of others: PEM or JWK; RSA for RS256, P-256 for ES256. */
  readonly publicKeys?: readonly (string | JsonWebKey)[];
  /** Where others publish their keys, over https or on this machine. */
  readonly jwksUrl?: string;
  /** What a token's `iss` and `aud` must be, unless it is an attempt's. */
  readonly issuer?: string;
  readonly audience?: string;
  readonly fetch?: typeof fetch;
}

/** What a token says, once its signature and its times were found good. */
export interface Checked {
  readonly payload: JWTPayload;
  /** Up to when it may be remembered as good, Unix milliseconds; its own end may come sooner. */
  readonly until: number;
}

/** Checks a token's signature and times. @throws HoldfastError `unauthenticated`; `overloaded` where keys cannot be read */
export type CheckToken = (token: string, now: number) => Promise<Checked>;

/** A key, and the only algorithm it is for: nobody signs with a public key as if it were a secret. */
interface Key {
  readonly alg: Algorithm;
  readonly kid?: string;
  readonly key: Uint8Array | KeyObject | CryptoKey;
}

type Algorithm = "HS256" | "RS256" | "ES256";

/** How long a published key set is believed, and how long an unknown key id does not make us ask again. Milliseconds. */
const JWKS_AGE = 600_000;
const JWKS_COOLDOWN = 30_000;
/** How far another's clock may be ahead of ours, in seconds. */
const TOLERANCE_SECONDS = 5;

/** @throws RangeError for what is no key, or not a safe one */
export function createCheck(options: KeyOptions): CheckToken {
  const { secret, formerSecrets = [], publicKeys = [], issuer, audience } = options;
  const own = [secret, ...formerSecrets].map((bytes): Key => ({
    alg: "HS256",
    key: secretOf(bytes),
  }));
  const all = [...own, ...publicKeys.map(publicKeyOf)];
  const remote = options.jwksUrl === undefined ? undefined : remoteKeys(options.jwksUrl, options);
  const addressed = {
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };

  return async (token, now) => {
    const { alg, kid, isAttempt } = peek(token);
    const claims: JWTVerifyOptions = {
      requiredClaims: ["sub", "exp", "iat"],
      currentDate: new Date(now),
      clockTolerance: TOLERANCE_SECONDS,
      // An attempt's token is the server's word to itself: no key of others makes one.
      ...(!isAttempt && addressed),
    };
    for (const key of isAttempt ? own : all) {
      if (key.alg !== alg || (kid !== undefined && key.kid !== undefined && key.kid !== kid))
        continue;
      const payload = await verifyWith(token, key, claims);
      if (payload) return { payload, until: Number.POSITIVE_INFINITY };
    }
    if (!remote || isAttempt || alg === "HS256") throw unauthenticated(NOT_VALID);
    const payload = await verifyWithPublished(token, { alg, remote }, claims);
    // A key that is no longer published stops being good, as soon as that can be known.
    return { payload, until: now + JWKS_AGE };
  };
}

/** What a token claims to be: all of it is found to be so, or the token refused. */
function peek(token: string): { alg: Algorithm; kid?: string; isAttempt: boolean } {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const isAttempt = decodeJwt(token)["attempt"] !== undefined;
    if (alg === "HS256" || alg === "RS256" || alg === "ES256") {
      return { alg, isAttempt, ...(typeof kid === "string" && { kid }) };
    }
  } catch (cause) {
    throw unauthenticated(NOT_VALID, cause);
  }
  throw unauthenticated("The token must be signed with HS256, RS256 or ES256: get another one.");
}

/** Undefined where another key may have signed it. */
async function verifyWith(
  token: string,
  { key, alg }: Key,
  claims: JWTVerifyOptions,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, { ...claims, algorithms: [alg] });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
    throw refusalOf(error);
  }
}

async function verifyWithPublished(
  token: string,
  { alg, remote }: { readonly alg: Algorithm; readonly remote: JWTVerifyGetKey },
  claims: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, remote, { ...claims, algorithms: [alg] })).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw refusalOf(error);
    // Keys without ids, while one replaces the other: either may have signed it.
    for await (const key of error) {
      const payload = await verifyWith(token, { alg, key }, claims);
      if (payload) return payload;
    }
    throw unauthenticated(NOT_VALID);
  }
}

function refusalOf(cause: unknown): HoldfastError {
  if (cause instanceof HoldfastError) return cause;
  if (cause instanceof errors.JWTExpired) {
    return unauthenticated("The token has expired: get a new one.", cause);
  }
  if (cause instanceof errors.JWTClaimValidationFailed) {
    return unauthenticated(
      `The token is not valid, by its ${cause.claim}: get another one.`,
      cause,
    );
  }
  return unauthenticated(NOT_VALID, cause);
}

const NOT_VALID = "The token is not valid: get a new one.";

function remoteKeys(text: string, options: KeyOptions): JWTVerifyGetKey {
  const url = URL.parse(text);
  const safe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!url || !safe) throw new RangeError(`The key set's address must be https, not ${text}.`);
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: JWKS_AGE,
    cooldownDuration: JWKS_COOLDOWN,
    [customFetch]: fetchKeys(options.fetch ?? fetch),
  });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey) throw cause;
      if (cause instanceof errors.JWKSMultipleMatchingKeys) throw cause;
      const message = "The keys that tokens are checked with cannot be read now: try again.";
      throw new HoldfastError(reject("overloaded", message), { cause });
    }
  };
}

/** The secret, if it is one. @throws TypeError, RangeError */
export function secretOf(bytes: Uint8Array): Uint8Array {
  // Those who write no types hand over the text as they read it from their environment.
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(
      "The secret must be bytes: give new TextEncoder().encode(text) for a text.",
    );
  }
  if (bytes.length >= 32) return bytes;
  throw new RangeError("The secret must have at least 32 bytes.");
}

function publicKeyOf(given: string | JsonWebKey): Key {
  if (typeof given === "string" && given.includes("PRIVATE KEY")) {
    throw new RangeError(
      "A private key was given where a public one belongs: keep it to the issuer.",
    );
  }
  let key: KeyObject;
  try {
    key = createPublicKey(typeof given === "string" ? given : { key: given, format: "jwk" });
  } catch (cause) {
    throw new RangeError("A public key must be PEM or a JWK, RSA or P-256.", { cause });
  }
  const alg = algorithmOf(key);
  if (typeof given === "string") return { alg, key };
  const { alg: said = alg, use = "sig", kid } = given;
  if (said !== alg || use !== "sig") {
    throw new RangeError(
      `A JWK for ${String(said)} (${String(use)}) is not for tokens: ${alg} is.`,
    );
  }
  return { alg, key, ...(typeof kid === "string" && { kid }) };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): Algorithm {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  if (asymmetricKeyType === "rsa" && modulusLength >= 2048) return "RS256";
  if (asymmetricKeyType === "ec" && namedCurve === "prime256v1") return "ES256";
  throw new RangeError("A public key must be RSA of at least 2048 bits, or P-256.");
}
