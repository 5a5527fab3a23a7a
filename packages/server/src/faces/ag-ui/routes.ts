import type { Context } from "hono";
import { HoldfastError, reject } from "@holdfast/protocol";
import { isId, isObject, parseSessionRequest } from "@holdfast/protocol/schemas";
import type { Identity } from "../../auth/index.ts";
import { authenticate } from "../../http/authenticate.ts";
import { readJson } from "../../http/body.ts";
import type { App, AppEnv, HttpOptions } from "../../http/context.ts";
import { sessionId } from "../../http/params.ts";
import { answerConnect } from "./connect.ts";
import { answerPost } from "./post.ts";
import { readInput, readJoining, textIn } from "./read-input.ts";
import { answerStop } from "./stop.ts";
import type { Asking } from "./tell-story.ts";
import { makeThread, requireThread } from "./threads.ts";

/** What is asked of a thread, at either of its addresses. */
interface Request {
  readonly body: unknown;
  readonly asking: Asking;
  /** The agent whose threads are meant; any, at a session's own address. */
  readonly agent?: string;
}

type FaceContext = Context<AppEnv>;

type Answer = (options: HttpOptions, request: Request) => Promise<Response>;

const VERBS: Readonly<Record<string, Answer>> = { "": post, "/connect": connect, "/stop": stop };

/** AG-UI 1.0 over HTTP (SPEC 12.4), for one session, and for the sessions of an agent. */
export function agUiRoutes(app: App, options: HttpOptions): void {
  for (const [verb, answer] of Object.entries(VERBS)) {
    app.post(`/v1/sessions/:id/ag-ui${verb}`, async (c) => {
      const session = sessionId({ url: c.req.url, param: () => c.req.param("id") ?? "" });
      const { identity, body } = await read(c, options);
      const threadId = isObject(body) ? body["threadId"] : undefined;
      if (threadId !== undefined && threadId !== session) throw otherThread(session);
      return answer(options, { body, asking: askingOf(c, identity, session) });
    });
    app.post(`/v1/agents/:agent/ag-ui${verb}`, async (c) => {
      const { agent = "" } = parseSessionRequest({ agent: c.req.param("agent") });
      const { identity, body } = await read(c, options);
      return answer(options, { body, agent, asking: askingOf(c, identity, threadIn(body)) });
    });
  }
}

async function post(options: HttpOptions, { body, asking, agent }: Request): Promise<Response> {
  const input = readInput(body);
  if (agent !== undefined) await makeThread(options, { agent, input, asking });
  return answerPost(options, input, asking);
}

async function connect(options: HttpOptions, { body, asking, agent }: Request): Promise<Response> {
  if (agent !== undefined) await requireThread(options, agent, asking);
  return answerConnect(options, readJoining(body), asking);
}

async function stop(options: HttpOptions, { body, asking, agent }: Request): Promise<Response> {
  if (agent !== undefined) await requireThread(options, agent, asking);
  return answerStop(options, textIn(body, "runId"), asking);
}

async function read({ req }: FaceContext, { tokens, maxBodyBytes }: HttpOptions) {
  const identity = await authenticate(req.raw, tokens);
  // To connect and to stop, the path may say all.
  return { identity, body: await readJson(req.raw, maxBodyBytes, {}) };
}

function askingOf(c: FaceContext, identity: Identity, session: string): Asking {
  const { connection } = c.env ?? {};
  return {
    identity,
    session,
    accept: c.req.header("accept"),
    lastEventId: c.req.header("last-event-id") || undefined,
    destroy: connection && (() => connection.destroy()),
  };
}

function threadIn(body: unknown): string {
  const threadId = isObject(body) ? body["threadId"] : undefined;
  if (!isId(threadId)) {
    const message = "threadId: must be a non-empty string of at most 256 characters.";
    throw new HoldfastError(reject("invalid_request", message, { limit: 256 }));
  }
  return sessionId({ url: "", param: () => threadId });
}

function otherThread(session: string): HoldfastError {
  const message = `threadId: must be ${session} here, or absent. For threads of any id, post to /v1/agents/{agent}/ag-ui.`;
  return new HoldfastError(reject("invalid_request", message));
}
