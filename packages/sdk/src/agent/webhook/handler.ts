import { HoldfastError, type RunWake } from "@holdfast/protocol";
import type { ToolSet } from "ai";
import { createTransport, systemTiming, WORKER_BACKOFF } from "../../wire/index.ts";
import { attend } from "../attend.ts";
import { createAttempt } from "../attempt.ts";
import { declareTools } from "../declare.ts";
import { claimRun, type Work } from "../work.ts";
import type { WorkerOptions } from "../worker.ts";
import { readWebhook, type ReadWebhookOptions } from "./read.ts";
import { keyOf } from "./verify.ts";

export interface WebhookHandlerOptions<Chunk, History, Tools extends ToolSet>
  extends
    Omit<WorkerOptions<Chunk, History, Tools>, "name" | "concurrency" | "signal" | "waitMs">,
    Pick<ReadWebhookOptions, "secret"> {
  /**
   * Keeps the process until the promise has settled, though the answer was given: `after` of Next.js, `waitUntil` of
   * Vercel. Where neither it nor the request's context has one, the answer waits for the attempt's end.
   */
  readonly waitUntil?: (done: Promise<void>) => void;
}

/** What a platform gives with each request, such as Cloudflare's `ctx`. */
export interface WebhookContext {
  waitUntil?(done: Promise<void>): void;
}

/**
 * Works on runs that a webhook tells of, in a process that need not be there before or after: any web-standard handler
 * of `POST`. It checks who says it, answers 204, and has the handler work on the run's attempt.
 *
 * The server gives an attempt out once, so a message that comes again, or late, is answered alike and does nothing.
 * Whatever ends this process before the attempt has begun, the server tells of it again; after that, the attempt's lease
 * ends and the run goes to another one. A handler that must end before its run does calls `run.detach`.
 *
 * Answers: 204 taken, or nothing to do any more; 400, 401, 413 for what is not the server's word to this agent; 503 where
 * the server could not be asked before the answer.
 *
 * @throws RangeError for what is no secret
 */
export function webhookHandler<Chunk, History, Tools extends ToolSet = Record<never, never>>(
  options: WebhookHandlerOptions<Chunk, History, Tools>,
): (request: Request, context?: WebhookContext) => Promise<Response> {
  const { agent, secret, onError = console.error, timing = systemTiming } = options;
  for (const each of [secret].flat()) keyOf(each);

  return async (request, context) => {
    let wake: RunWake;
    try {
      const event = await readWebhook(request, { secret, timing });
      if (event.type !== "run.wake" || event.agent !== agent) throw notForUs(agent);
      wake = event;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return new Response(error.message, { status: error.status });
    }
    let failed = false;
    const done = takeUp(wake, options).catch((error: unknown) => {
      failed = true;
      onError(error, wake);
    });
    if (context?.waitUntil) context.waitUntil(done);
    else if (options.waitUntil) options.waitUntil(done);
    else await done;
    if (failed) return new Response("The run could not be claimed.", { status: 503 });
    return new Response(null, { status: 204 });
  };
}

/** Works on the run's attempt, if it is still to be had. @throws what keeps it from being claimed */
async function takeUp<Chunk, History, Tools extends ToolSet>(
  { session, runId, wakeId }: RunWake,
  options: WebhookHandlerOptions<Chunk, History, Tools>,
): Promise<void> {
  const { url, agent, token, complete, patienceMs = 300_000, onError = console.error } = options;
  const connection = {
    url,
    timing: options.timing ?? systemTiming,
    backoff: options.backoff ?? WORKER_BACKOFF,
    ...(options.fetch && { fetch: options.fetch }),
  };
  // Of its own for each message: only who began the attempt gets it again.
  const instance = crypto.randomUUID();
  const declared = await declareTools(options.tools ?? ({} as Tools), options.policies ?? {});
  let work: Work;
  try {
    work = await claimRun(createTransport({ ...connection, token }), {
      agent,
      worker: `webhook-${instance}`,
      instance,
      session,
      runId,
      wakeId,
      ...(declared.length > 0 && { tools: declared }),
      ...(complete && { complete }),
    });
  } catch (error) {
    if (isOver(error)) return;
    throw error;
  }
  const own = createTransport({ ...connection, token: work.token });
  const attempt = createAttempt(work, own, { instance, patienceMs });
  await attend(attempt, { ...options, producer: instance, onError });
}

/** Somebody else has the run, or it has ended: there is nothing to do. */
function isOver(error: unknown): boolean {
  const codes = ["run_held", "run_ended", "unknown_run", "unknown_session"];
  return error instanceof HoldfastError && codes.includes(error.code);
}

function notForUs(agent: string): HoldfastError {
  const message = `Here is work of agent ${agent} taken up, and nothing else.`;
  return new HoldfastError({ code: "invalid_request", message });
}
