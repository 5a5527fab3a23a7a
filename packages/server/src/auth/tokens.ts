import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import type { Identity } from "./identity.ts";
import { unauthenticated } from "./refusals.ts";

/** How long a token holds, in seconds. An attempt's outlives the attempt: an explicit claim may take days. */
const TOKEN_SECONDS = 30 * 24 * 60 * 60;
/** How many verified tokens are remembered, so that a request costs no signature. */
const REMEMBERED = 10_000;

/** Makes and checks tokens: JWTs signed with HS256. */
export class Tokens {
  readonly #secret: Uint8Array;
  readonly #now: () => number;
  readonly #verified = new Map<string, { readonly identity: Identity; readonly until: number }>();

  /** @param now Unix milliseconds */
  constructor(secret: Uint8Array, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  mint({ principal, attempt }: Identity): Promise<string> {
    const seconds = Math.floor(this.#now() / 1000);
    return new SignJWT(attempt ? { ...attempt } : {})
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(principal)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + TOKEN_SECONDS)
      .sign(this.#secret);
  }

  /** Without a promise for a token that was verified before. @throws HoldfastError `unauthenticated` */
  verify(token: string): Identity | Promise<Identity> {
    const known = this.#verified.get(token);
    return known && known.until > this.#now() ? known.identity : this.#verify(token);
  }

  async #verify(token: string): Promise<Identity> {
    const { payload } = await jwtVerify(token, this.#secret, {
      algorithms: ["HS256"],
      requiredClaims: ["sub", "exp"],
      currentDate: new Date(this.#now()),
    }).catch((cause: unknown) => {
      throw unauthenticated("The token is not valid: get a new one.", cause);
    });
    const { sub: principal = "", exp = 0 } = payload;
    if (!/^(user|agent):./.test(principal)) throw unauthenticated("The token names no principal.");
    const attempt = attemptIn(payload);
    const identity: Identity = attempt ? { principal, attempt } : { principal };
    if (this.#verified.size >= REMEMBERED) this.#verified.clear();
    this.#verified.set(token, { identity, until: exp * 1000 });
    return identity;
  }
}

/** The attempt a token is for. One that names half of one is for nothing, least of all for more. */
function attemptIn({ session, runId, attempt }: JWTPayload): Identity["attempt"] {
  if (session === undefined && runId === undefined && attempt === undefined) return undefined;
  if (typeof session === "string" && typeof runId === "string" && typeof attempt === "number") {
    return { session, runId, attempt };
  }
  throw unauthenticated("The token names half an attempt: use it as work/claim gave it.");
}
