/** Somewhere the server sends messages to. */
export interface WebhookTarget {
  /** `http` or `https`. Redirects are not followed. */
  readonly url: string;
  /**
   * `whsec_` and 24 to 64 bytes in base64. Several while they are changed: messages are signed with each, so that a
   * receiver that knows one of them takes them.
   */
  readonly secret: string | readonly string[];
}

/** Whom the server tells of work and of calls that wait: the operator's word alone. JSON, but for the last two. */
export interface WebhookOptions {
  /** By agent: who is told when one of its runs may be started. */
  readonly agents?: Readonly<Record<string, WebhookTarget>>;
  /** Who is told when a call waits for people and nobody is connected, or it has waited for too long. */
  readonly notify?: WebhookTarget;
  /** How long one try may take, milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
  /** How many tries at once, for each target. Default 8. */
  readonly concurrency?: number;
  /** Wait between tries: a random part of `baseMs`, doubled with each failure, at most `maxMs`. Default 1 s and 1 h. */
  readonly baseMs?: number;
  readonly maxMs?: number;
  /** After which a delivery is dead. Default 40 tries, 24 h. */
  readonly maxTries?: number;
  readonly maxAgeMs?: number;
  /** How long after a wake-up was accepted the attempt must have begun, milliseconds: else it is sent again. Default 60 s. */
  readonly startWithinMs?: number;
  /** How long nobody is connected before a call that waits is told of, milliseconds: a reload is no absence. Default 15 s. */
  readonly absentMs?: number;
  readonly fetch?: typeof fetch;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** How deliveries are tried. */
export type DeliveryTerms = Required<
  Omit<WebhookOptions, "agents" | "notify" | "fetch" | "random">
>;

export const WEBHOOK_DEFAULTS: DeliveryTerms = {
  timeoutMs: 10_000,
  concurrency: 8,
  baseMs: 1_000,
  maxMs: 60 * 60 * 1000,
  maxTries: 40,
  maxAgeMs: 24 * 60 * 60 * 1000,
  startWithinMs: 60_000,
  absentMs: 15_000,
};

/** A target that was found to be sound. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly keys: readonly Uint8Array[];
}

/** @throws RangeError naming the target and what is wrong with it, and never its secret */
export function checkTarget(name: string, { url, secret }: WebhookTarget): Target {
  const parsed = URL.parse(url);
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) {
    throw new RangeError(`${name}: the URL must be http or https.`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new RangeError(`${name}: the URL must carry no credentials; messages are signed.`);
  }
  const keys = [secret].flat().map((text) => keyOf(name, text));
  if (keys.length === 0) throw new RangeError(`${name}: a secret is needed.`);
  return { name, url: parsed.href, keys };
}

function keyOf(name: string, secret: string): Uint8Array {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = Buffer.from(text ?? "", "base64");
  if (key.length >= 24 && key.length <= 64) return key;
  throw new RangeError(
    `${name}: a secret is whsec_ and 24 to 64 bytes in base64, such as \`echo whsec_$(openssl rand -base64 32)\` prints.`,
  );
}
