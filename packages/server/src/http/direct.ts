import { mayEnter } from "../auth/index.ts";
import type { Answer } from "./answer.ts";
import { parseBody } from "./body.ts";
import type { HttpOptions } from "./context.ts";
import type { Head, PlainRequest } from "./plain/index.ts";
import { refusalOf } from "./problem.ts";
import { answerCommands } from "./routes/commands.ts";

/**
 * `POST …/commands` without web-standard objects: for an append they cost more than all the rest (bench: "holdfast").
 * Takes only a session whose id needs no escape, and a bearer token. Everything else is the app's, which answers the
 * same.
 *
 * @returns undefined for a request it leaves alone
 */
export function directCommands(
  options: HttpOptions,
): (request: PlainRequest) => Promise<Answer> | undefined {
  const known = new WeakMap<Head, Target | null>();
  return ({ head, body }) => {
    let target = known.get(head);
    if (target === undefined) known.set(head, (target = targetOf(head)));
    return target ? answer(options, target, body) : undefined;
  };
}

/** Who says something to which session. */
interface Target {
  readonly session: string;
  readonly token: string;
}

function targetOf({ method, target, headers }: Head): Target | null {
  const session = method === "POST" ? PLAIN.exec(target)?.[1] : undefined;
  const authorization = headers.get("authorization");
  if (session === undefined || !authorization?.startsWith(BEARER)) return null;
  // A page asks: whether it may, and what its browser is to be told, the app knows.
  if (headers.has("origin")) return null;
  return { session, token: authorization.slice(BEARER.length) };
}

/** A path segment of dots is no id: URLs resolve it away. */
const PLAIN = /^\/v1\/sessions\/(?!\.{1,2}\/)([\w.~:@!$&'()*+,;=-]{1,256})\/commands$/;
const BEARER = "Bearer ";

async function answer(
  options: HttpOptions,
  { session, token }: Target,
  body: Uint8Array,
): Promise<Answer> {
  try {
    const known = options.tokens.verify(token);
    const identity = known instanceof Promise ? await known : known;
    mayEnter(identity, session);
    return await answerCommands(options, session, identity, parseBody(body));
  } catch (error) {
    return refusalOf(error, options.log);
  }
}
