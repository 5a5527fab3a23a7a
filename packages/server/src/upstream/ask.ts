import type { AgentTerms } from "./options.ts";
import { UpstreamError } from "./failure.ts";

export interface AskContext {
  readonly terms: AgentTerms;
  /** Ends the request, and rejects with its reason. */
  readonly signal: AbortSignal;
  readonly schedule: (ms: number, run: () => void) => () => void;
}

/** How much of an error's body its run's failure tells, in characters. */
const MOST_TOLD = 500;

/** How much of an error's body is read, in bytes. */
const MOST_READ = 4 * 1024;

/** The longest wait between two tries, in milliseconds. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Asks an agent for a run and gives the body of its answer, which is a stream of events. Asks again, a bounded number of
 * times, only where nobody can have begun anything: nothing listened there, or the answer was 429 or 5xx.
 *
 * @throws UpstreamError `agent_unreachable`, `agent_refused`, `agent_silent`, `agent_lost` or `agent_invalid`; the
 * signal's reason
 */
export async function ask(input: string, context: AskContext): Promise<ReadableStream<Uint8Array>> {
  const { terms, signal, schedule } = context;
  for (let tries = 1; ; tries += 1) {
    const tried = await askOnce(input, context);
    if ("body" in tried) return tried.body;
    if (!tried.again || tries >= terms.tries) throw tried.error;
    const most = Math.min(LONGEST_WAIT_MS, terms.retryMs * 2 ** (tries - 1));
    await pause(Math.max(1, Math.ceil(terms.random() * most)), { signal, schedule });
  }
}

type Tried =
  | { readonly body: ReadableStream<Uint8Array> }
  | { readonly error: UpstreamError; readonly again: boolean };

async function askOnce(input: string, { terms, signal, schedule }: AskContext): Promise<Tried> {
  const { url, headers, answerMs, fetch } = terms;
  const late = new AbortController();
  const stop = schedule(answerMs, () => late.abort());
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "user-agent": "holdfast",
        ...headers,
        "content-type": "application/json",
        accept: "text/event-stream",
      },
      body: input,
      signal: AbortSignal.any([late.signal, signal]),
    });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    return { error: unanswered(cause, late.signal.aborted, terms), again: wasNotSent(cause) };
  } finally {
    stop();
  }
  const { ok, status, body } = response;
  if (!ok) {
    const told = await beginningOf(body, { schedule, signal });
    const message = `The agent answered with HTTP status ${status}${told === "" ? "." : `: ${told}`}`;
    return {
      error: new UpstreamError("agent_refused", message),
      again: status === 429 || status >= 500,
    };
  }
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "text/event-stream" && body) return { body };
  await body?.cancel().catch(() => {});
  const message = `The agent's answer is no event stream: it is ${type ?? "of no type"}.`;
  return { error: new UpstreamError("agent_invalid", message), again: false };
}

/** Codes of a connection that never was. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function wasNotSent(error: unknown): boolean {
  return NEVER_CONNECTED.has(codeOf(error));
}

/** Says nothing of the address: the failure is for every reader of the session. */
function unanswered(cause: unknown, isLate: boolean, { answerMs }: AgentTerms): UpstreamError {
  if (isLate) {
    const message = `The agent did not answer within ${answerMs} ms.`;
    return new UpstreamError("agent_silent", message, { cause });
  }
  const code = codeOf(cause);
  const why = code === undefined ? "" : ` (${code})`;
  return wasNotSent(cause)
    ? new UpstreamError("agent_unreachable", `The agent cannot be reached${why}.`, { cause })
    : new UpstreamError("agent_lost", `The agent broke the connection before it answered${why}.`, {
        cause,
      });
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** How long is waited for the words that go with an error, in milliseconds. */
const WORDS_MS = 2_000;

/** The first words of an error, on one line; what comes of it may be nothing. */
async function beginningOf(
  body: ReadableStream<Uint8Array> | null,
  { schedule, signal }: Pick<AskContext, "schedule" | "signal">,
): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const stop = schedule(WORDS_MS, cancel);
  signal.addEventListener("abort", cancel, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < MOST_READ) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What came is all there is.
  } finally {
    stop();
    signal.removeEventListener("abort", cancel);
    cancel();
  }
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MOST_TOLD)
    .toWellFormed();
}

function pause(
  ms: number,
  { signal, schedule }: Pick<AskContext, "signal" | "schedule">,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = schedule(ms, () => {
      signal.removeEventListener("abort", give);
      resolve();
    });
    const give = () => {
      stop();
      reject(signal.reason as Error);
    };
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}
