/** An AG-UI endpoint that works on an agent's runs: the operator's word alone. */
export interface AgentOptions {
  /** `http` or `https`; it gets a POST for every run. Redirects are not followed. */
  readonly url: string;
  /** Sent with every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many of its runs are worked on at once. Default 16. */
  readonly concurrency?: number;
  /** Whether a message id that it used before fails the run. By default such a message gets another. */
  readonly strict?: boolean;
  /** How long until an answer begins, milliseconds. Default 60 s. */
  readonly answerMs?: number;
  /** How long an answer may be silent, comments included, milliseconds. Default 4 minutes. */
  readonly silenceMs?: number;
  /** How long a run may take in all, milliseconds. Default 24 h. */
  readonly runMs?: number;
  /** How often one run is asked for where nobody took it. Default 6. */
  readonly tries?: number;
  /** Wait between these: a random part of this, doubled with each, at most 30 s. Default 500 ms. */
  readonly retryMs?: number;
  readonly fetch?: typeof fetch;
  /** In [0, 1). */
  readonly random?: () => number;
}

export type AgentTerms = Required<AgentOptions>;

const DEFAULTS = {
  headers: {},
  concurrency: 16,
  strict: false,
  answerMs: 60_000,
  silenceMs: 240_000,
  runMs: 24 * 60 * 60 * 1000,
  tries: 6,
  retryMs: 500,
  random: Math.random,
};

/** @throws RangeError naming the agent and what is wrong with it, and never what it is sent */
export function checkAgent(name: string, options: AgentOptions): AgentTerms {
  const terms = { ...DEFAULTS, fetch: globalThis.fetch, ...options };
  const parsed = URL.parse(terms.url);
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) {
    throw new RangeError(`Agent ${name}: its URL must be http or https.`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new RangeError(
      `Agent ${name}: its URL must carry no credentials; send them in a header.`,
    );
  }
  try {
    new Headers(terms.headers);
  } catch {
    throw new RangeError(`Agent ${name}: one of its headers cannot be sent.`);
  }
  for (const field of ["concurrency", "tries", "answerMs", "silenceMs", "runMs"] as const) {
    if (!Number.isInteger(terms[field]) || terms[field] < 1) {
      throw new RangeError(`Agent ${name}: ${field} must be a whole number, 1 or more.`);
    }
  }
  return { ...terms, url: parsed.href };
}
