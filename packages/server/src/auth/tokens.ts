import { randomUUID } from "node:crypto";
import type { JWTPayload } from "jose";
import { everything, wrongGrants, type Grant } from "./grants.ts";
import { isPrincipal, type AttemptName, type Identity } from "./identity.ts";
import { createCheck, type CheckToken, type KeyOptions } from "./keys.ts";
import { MAX_LIFETIME, MAX_TOKEN, TOLERANCE } from "./limits.ts";
import { mintToken, sign } from "./mint.ts";
import { unauthenticated } from "./refusals.ts";
import type { Revocations } from "./revocations.ts";

export interface TokensOptions extends KeyOptions {
  readonly revocations: Revocations;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly schedule: (ms: number, run: () => void) => () => void;
}

/** How long the server's own tokens hold, in milliseconds. An attempt's outlives the attempt: a claim may take days. */
const OWN_TTL = 30 * 24 * 60 * 60 * 1000;
/** How many verified tokens are remembered, so that a request costs no signature. */
const REMEMBERED = 10_000;
/** The longest a timer is set for, in milliseconds: platforms take no longer ones. */
const LONGEST_TIMER = 24 * 60 * 60 * 1000;

/** Makes the server's tokens, and checks everybody's. */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #check: CheckToken;
  readonly #verified = new Map<string, { readonly identity: Identity; readonly until: number }>();

  /** @throws RangeError for keys that are none */
  constructor(options: TokensOptions) {
    this.#options = options;
    this.#check = createCheck(options);
  }

  /** A token of this server, by default for everything that the principal's kind does. @throws RangeError */
  mint(principal: string, grants: readonly Grant[] = everything(principal)): Promise<string> {
    const { secret, issuer, audience, now } = this.#options;
    return mintToken({
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
      secret,
      principal,
      grants,
      ttlMs: OWN_TTL,
      now,
    });
  }

  /** The token of an attempt. It is revoked with the one that claimed the attempt. */
  mintAttempt(by: Pick<Identity, "principal" | "tokenIds">, attempt: AttemptName): Promise<string> {
    const [parent] = by.tokenIds;
    return sign(this.#options.secret, {
      alg: "HS256",
      claims: { attempt, ...(parent !== undefined && { parent }) },
      principal: by.principal,
      tokenId: randomUUID(),
      now: this.#options.now(),
      ttlMs: OWN_TTL,
    });
  }

  /**
   * Without a promise for a token that was verified before. One that expired or was revoked meanwhile is refused.
   *
   * @throws HoldfastError `unauthenticated`; `overloaded` where the keys cannot be read
   */
  verify(token: string): Identity | Promise<Identity> {
    const known = this.#verified.get(token);
    const { now, revocations } = this.#options;
    if (known && known.until > now() && !revocations.has(known.identity)) return known.identity;
    return this.#verify(token);
  }

  /**
   * Calls `over`, once, when the identity's token expires or is revoked, which may be at once; the result takes it
   * back.
   */
  watch(identity: Identity, over: () => void): () => void {
    const { now, schedule, revocations } = this.#options;
    let cancel = () => {};
    const look = () => {
      cancel();
      const left = identity.expiresAt - now();
      if (left > 0 && !revocations.has(identity)) {
        cancel = schedule(Math.min(left, LONGEST_TIMER), look);
      } else {
        stop();
        over();
      }
    };
    const unwatch = revocations.watch(look);
    const stop = () => {
      cancel();
      unwatch();
    };
    look();
    return stop;
  }

  async #verify(token: string): Promise<Identity> {
    const { now, revocations } = this.#options;
    this.#verified.delete(token);
    if (token.length > MAX_TOKEN) {
      throw unauthenticated(`The token is longer than ${MAX_TOKEN} characters: get another one.`);
    }
    await revocations.load();
    const { payload, until } = await this.#check(token, now());
    const identity = identityIn(payload, now());
    if (revocations.has(identity)) {
      throw unauthenticated("The token was revoked: sign in again.");
    }
    if (this.#verified.size >= REMEMBERED) this.#verified.clear();
    this.#verified.set(token, { identity, until: Math.min(until, identity.expiresAt) });
    return identity;
  }
}

/** What a token whose signature is good says. @throws HoldfastError `unauthenticated` */
function identityIn(payload: JWTPayload, now: number): Identity {
  const { sub, jti, exp = 0, iat = 0, grants = [], parent } = payload;
  if (!isPrincipal(sub)) throw unauthenticated("The token names no principal.");
  const issuedAt = iat * 1000;
  const expiresAt = exp * 1000;
  if (expiresAt <= now) throw unauthenticated("The token has expired: get a new one.");
  const attempt = attemptIn(payload["attempt"]);
  // An attempt's was issued here: when this machine's clock was set back, it is that which is wrong.
  if (!attempt && issuedAt > now + TOLERANCE)
    throw unauthenticated("The token is of the future: wait.");
  if (!(expiresAt - issuedAt <= MAX_LIFETIME)) {
    throw unauthenticated("The token lasts longer than 366 days: get one that ends sooner.");
  }
  const wrong = wrongGrants(grants);
  if (wrong !== undefined) throw unauthenticated(`The token is not valid: ${wrong}.`);
  return {
    principal: sub,
    // An attempt's token is for its attempt, whatever else it says.
    grants: attempt ? [] : (grants as readonly Grant[]), // nothing is wrong with them
    ...(attempt && { attempt }),
    tokenIds: [jti, parent].filter((id) => typeof id === "string"),
    issuedAt,
    expiresAt,
  };
}

/** The attempt a token is for. One that names half of one is for nothing, least of all for more. */
function attemptIn(value: unknown): AttemptName | undefined {
  if (value === undefined) return undefined;
  const { session, runId, attempt } = Object(value) as Partial<Record<string, unknown>>;
  if (typeof session === "string" && typeof runId === "string" && typeof attempt === "number") {
    return { session, runId, attempt };
  }
  throw unauthenticated("The token names half an attempt: use it as work/claim gave it.");
}
