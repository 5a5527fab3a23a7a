import { HoldfastError, type WebhookEvent } from "@holdfast/protocol";
import { isObject, systemTiming, type Timing } from "../../wire/index.ts";
import { distrust, keyOf } from "./verify.ts";

export interface ReadWebhookOptions {
  /** As the server has it, `whsec_…`; several while they are changed. */
  readonly secret: string | readonly string[];
  readonly timing?: Pick<Timing, "now">;
}

/** Far more than any message has, in bytes. */
const MOST_BYTES = 64 * 1024;

/**
 * What a server tells a webhook, once it is certain that the server says it, and says it now. The same message may come
 * more than once, under the same `webhook-id`.
 *
 * @throws {HoldfastError} `unauthenticated` where the signature or its time does not hold; `too_large`;
 * `invalid_request` for what is no message of a kind that is known here. `status` is what to answer.
 * @throws RangeError for what is no secret
 */
export async function readWebhook(
  request: Request,
  { secret, timing = systemTiming }: ReadWebhookOptions,
): Promise<WebhookEvent> {
  const keys = [secret].flat().map(keyOf);
  const body = await readBody(request);
  const why = await distrust({ headers: request.headers, body }, keys, timing.now());
  if (why !== undefined) {
    const message = `The message is not the server's: ${why}.`;
    throw new HoldfastError({ code: "unauthenticated", message });
  }
  const event = parse(new TextDecoder().decode(body));
  if (isEvent(event)) return event;
  throw new HoldfastError({
    code: "invalid_request",
    message: "The message is of no kind that is known here: is the SDK older than the server?",
  });
}

async function readBody({ body }: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) break;
    bytes += next.value.length;
    if (bytes > MOST_BYTES) {
      await reader?.cancel();
      const message = `A message has at most ${MOST_BYTES} bytes.`;
      throw new HoldfastError({ code: "too_large", message });
    }
    chunks.push(next.value);
  }
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // it is signed, and no JSON: of no kind that is known
  }
}

const FIELDS: { readonly [Type in WebhookEvent["type"]]: readonly string[] } = {
  "run.wake": ["session", "runId", "wakeId", "agent"],
  "call.waiting": ["session", "runId", "callId", "agent", "tool"],
  "call.escalate": ["session", "runId", "callId", "agent", "tool"],
};

function isEvent(value: unknown): value is WebhookEvent {
  if (!isObject(value)) return false;
  const { type } = value;
  if (typeof type !== "string" || !Object.hasOwn(FIELDS, type)) return false;
  return FIELDS[type as WebhookEvent["type"]].every((field) => typeof value[field] === "string");
}
