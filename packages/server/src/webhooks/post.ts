import type { Target } from "./options.ts";
import { signatureHeaders } from "./sign.ts";

/** What came of one try. */
export type Outcome =
  | { readonly type: "accepted" }
  | {
      readonly type: "failed";
      /** For the operator; says nothing of the target's address or answer but its status. */
      readonly error: string;
      /** The receiver asks not to be tried before. */
      readonly retryAfterMs?: number;
      /** Trying again would not help. */
      readonly final?: boolean;
    };

export interface PostOptions {
  readonly fetch: typeof fetch;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** For the whole try, its answer included. */
  readonly timeoutMs: number;
  /** Gives the try up; then this rejects. */
  readonly signal: AbortSignal;
}

/** How much of an answer is read, in bytes, so that its connection can be used again; nobody looks at it. */
const MOST_READ = 16 * 1024;

/** Sends one message once, and only to the target: a redirect is a failure. */
export async function post(
  target: Target,
  message: { readonly id: string; readonly body: string },
  { fetch, now, schedule, timeoutMs, signal }: PostOptions,
): Promise<Outcome> {
  const late = new AbortController();
  const stop = schedule(timeoutMs, () => late.abort());
  try {
    const response = await fetch(target.url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": "holdfast",
        ...signatureHeaders(target.keys, { ...message, at: now() }),
      },
      body: message.body,
      signal: AbortSignal.any([late.signal, signal]),
    });
    await drop(response.body);
    return outcomeOf(response, now());
  } catch (error) {
    if (signal.aborted) throw error;
    return {
      type: "failed",
      error: late.signal.aborted ? `no answer within ${timeoutMs} ms` : `no answer${codeOf(error)}`,
    };
  } finally {
    stop();
  }
}

/** Statuses of 400 and above that another try may change. */
const PASSING = [408, 409, 425, 429];

function outcomeOf({ ok, status, headers }: Response, now: number): Outcome {
  if (ok) return { type: "accepted" };
  const retryAfterMs = delayIn(headers.get("retry-after"), now);
  return {
    type: "failed",
    error: `answered ${status}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status >= 400 && status < 500 && !PASSING.includes(status) && { final: true }),
  };
}

/** A delay as `Retry-After` says it, in seconds or as a date. */
function delayIn(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

async function drop(body: Response["body"]): Promise<void> {
  if (!body) return;
  let bytes = 0;
  // Leaving the loop cancels what is left.
  for await (const chunk of body) if ((bytes += chunk.length) > MOST_READ) break;
}

/** Such as ECONNREFUSED; the message would name the address. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}
