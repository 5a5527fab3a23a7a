import type { IncomingMessage, ServerResponse } from "node:http";
import { mayEnter, type Tokens } from "../auth/index.ts";
import { headersOf, type Answer } from "./answer.ts";
import { parseBody } from "./body.ts";
import type { HttpOptions } from "./context.ts";
import { refusalOf } from "./problem.ts";
import { answerCommands } from "./routes/commands.ts";

/**
 * `POST …/commands` straight on Node's own request and response: for an append, the web-standard objects cost more than
 * all the rest (bench: "holdfast"). Takes only the plain case: a session whose id needs no escape, a bearer token, a body
 * of declared length that is not large. Everything else is the app's, which answers the same.
 *
 * @returns false for a request it leaves alone
 */
export function directCommands(
  options: HttpOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { tokens, log } = options;
  // Here a body is read before anybody knows who sent it.
  const maxBodyBytes = Math.min(options.maxBodyBytes, LARGEST);
  return (request, response) => {
    const session = request.method === "POST" ? PLAIN.exec(request.url ?? "")?.[1] : undefined;
    const { authorization, "content-length": length, host, origin } = request.headers;
    if (session === undefined || !authorization?.startsWith(BEARER) || host === undefined)
      return false;
    // A page asks: whether it may, and what its browser is to be told, the app knows.
    if (origin !== undefined) return false;
    if (length === undefined || !(Number(length) <= maxBodyBytes) || request.headers.expect)
      return false;
    const token = authorization.slice(BEARER.length);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      answer(options, tokens, { session, token, bytes })
        .catch((error: unknown) => refusalOf(error, log))
        .then((made) => send(response, made))
        .catch((error: unknown) => log("An answer could not be sent", error));
    });
    // The body broke off with its connection: nobody is there to be told.
    request.on("error", () => response.destroy());
    return true;
  };
}

/** A path segment of dots is no id: URLs resolve it away. */
const PLAIN = /^\/v1\/sessions\/(?!\.{1,2}\/)([\w.~:@!$&'()*+,;=-]{1,256})\/commands$/;
const BEARER = "Bearer ";
/** In bytes. */
const LARGEST = 1 << 20;

async function answer(
  options: HttpOptions,
  tokens: Tokens,
  { session, token, bytes }: { session: string; token: string; bytes: Uint8Array },
): Promise<Answer> {
  const known = tokens.verify(token);
  const identity = known instanceof Promise ? await known : known;
  mayEnter(identity, session);
  return answerCommands(options, session, identity, parseBody(bytes));
}

function send(response: ServerResponse, answered: Answer): void {
  const { status, body } = answered;
  response.writeHead(status, {
    ...headersOf(answered),
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
