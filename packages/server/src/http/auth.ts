import { HoldfastError, reject, type Actor, type Command } from "@holdfast/protocol";
import { jwtVerify, SignJWT, type JWTPayload } from "jose";

/** Who a request is from, as its token says. */
export interface Identity {
  /** `user:<name>` or `agent:<name>`. */
  readonly principal: string;
  /** The one attempt the token is for. */
  readonly attempt?: {
    readonly session: string;
    readonly runId: string;
    readonly attempt: number;
  };
}

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

/** The request's identity. `EventSource` sets no headers, so reads may carry their token in the query. */
export function authenticate(request: Request, tokens: Tokens): Identity | Promise<Identity> {
  const header = request.headers.get("authorization");
  if (header?.startsWith("Bearer ")) return tokens.verify(header.slice("Bearer ".length));
  if (request.method === "GET") {
    const token = new URL(request.url).searchParams.get("access_token");
    if (token !== null) return tokens.verify(token);
  }
  throw unauthenticated("Send a token: `Authorization: Bearer <token>`.");
}

/** Reads are open to every principal; an attempt's token is for its own session. @throws HoldfastError `forbidden` */
export function mayRead(identity: Identity, session: string): void {
  if (canRead(identity, session)) return;
  throw forbidden(`This token is for an attempt of session ${identity.attempt?.session}.`);
}

/** Whether {@link mayRead}. */
export function canRead({ attempt }: Identity, session: string): boolean {
  return attempt === undefined || attempt.session === session;
}

/** What others tried, and what came too late, is for people. @throws HoldfastError `forbidden` */
export function mayAudit({ principal }: Identity): void {
  if (principal.startsWith("user:")) return;
  throw forbidden("The audit is for people: read it with a user's token.");
}

/** @throws HoldfastError `forbidden` for what an attempt may not do */
export function mayChangeSessions({ attempt }: Identity): void {
  if (attempt) throw forbidden("An attempt's token neither creates nor deletes sessions.");
}

/**
 * What makes a principal the commanding side: an attempt's token does its attempt's and its calls' commands, every
 * other token what people and applications do.
 *
 * @throws HoldfastError `forbidden`
 */
export function mayCommand(identity: Identity, session: string, command: Command): void {
  const { attempt, principal } = identity;
  mayRead(identity, session);
  switch (command.type) {
    case "run.append":
    case "run.heartbeat":
    case "step.start":
    case "step.end":
    case "run.finish":
    case "run.fail":
    case "run.release":
      if (attempt?.runId !== command.runId || attempt.attempt !== command.attempt) {
        throw forbidden(
          `${command.type} needs the token of attempt ${command.attempt} of run ${command.runId}, as work/claim gave it.`,
        );
      }
      return;
    case "call.claim":
    case "call.renew":
    case "call.release":
    case "call.progress":
    case "call.answer":
      return;
    case "call.decide":
      if (principal.startsWith("agent:")) throw forbidden("An agent does not decide on calls.");
      return;
    case "session.update":
    case "session.close":
    case "content.erase":
      if (attempt || principal.startsWith("agent:"))
        throw forbidden(`${command.type} is for people and applications.`);
      return;
    default:
      if (attempt) throw forbidden(`An attempt's token is not for ${command.type}.`);
  }
}

/** @throws HoldfastError `forbidden` for anyone but the agent itself */
export function mayWork({ principal, attempt }: Identity, agent: string): void {
  if (principal === `agent:${agent}` && !attempt) return;
  throw forbidden(`Work of agent ${agent} is for its own token, of the principal agent:${agent}.`);
}

/** The identity as decisions see it. */
export function actorOf({ principal, attempt }: Identity): Actor {
  if (!attempt) return { principal };
  return { principal, attempt: { runId: attempt.runId, attempt: attempt.attempt } };
}

function unauthenticated(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(reject("unauthenticated", message), { cause });
}

function forbidden(message: string): HoldfastError {
  return new HoldfastError(reject("forbidden", message));
}
