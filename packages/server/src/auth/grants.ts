/** What a token allows in some sessions. */
export interface Grant {
  /** A session's id; with `*` at the end, every id that begins so. */
  readonly sessions: string;
  readonly verbs: readonly Verb[];
}

export type Verb = PlainVerb | `${NamedVerb}:${string}`;

/**
 * `read` sees the session, `data` the arguments and results of every tool, `send` sends messages and creates the
 * session, `cancel` cancels calls and runs, `admin` does everything that people and applications do.
 */
export type PlainVerb = "read" | "data" | "send" | "cancel" | "admin";

/**
 * With a name, or the beginning of one and `*`: `data:<tool>` sees a tool's arguments and results, `answer:<tool>`
 * executes its calls as a client, `approve:<tool>` decides on them, `agent:<id>` claims an agent's work.
 */
export type NamedVerb = "data" | "answer" | "approve" | "agent";

const PLAIN: ReadonlySet<string> = new Set(["read", "data", "send", "cancel", "admin"]);
const NAMED: ReadonlySet<string> = new Set(["data", "answer", "approve", "agent"]);
const MOST_GRANTS = 256;

/** Everything people and applications do; an agent claims its own work. */
export function everything(principal: string): readonly Grant[] {
  const agent = /^agent:./.test(principal);
  return [{ sessions: "*", verbs: [agent ? (principal as `agent:${string}`) : "admin"] }];
}

/** What keeps a value from being a list of grants, in words; undefined where nothing does. */
export function wrongGrants(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "grants must be an array of {sessions, verbs}";
  if (value.length > MOST_GRANTS) return `grants must be at most ${MOST_GRANTS}`;
  for (const grant of value as unknown[]) {
    if (typeof grant !== "object" || grant === null) return "a grant must be {sessions, verbs}";
    const { sessions, verbs } = grant as Partial<Record<string, unknown>>;
    if (typeof sessions !== "string" || sessions === "") {
      return "a grant's sessions must be a session's id, or the beginning of one and *";
    }
    if (!Array.isArray(verbs)) return "a grant's verbs must be an array";
    const wrong = (verbs as unknown[]).find((verb) => !isVerb(verb));
    if (wrong !== undefined) return `${JSON.stringify(wrong)} is no verb`;
  }
  return undefined;
}

function isVerb(value: unknown): value is Verb {
  if (typeof value !== "string") return false;
  const colon = value.indexOf(":");
  if (colon < 0) return PLAIN.has(value);
  return NAMED.has(value.slice(0, colon)) && colon < value.length - 1;
}

/** Whether the grants allow a plain verb in a session. */
export function allows(grants: readonly Grant[], session: string, verb: PlainVerb): boolean {
  return grants.some(
    ({ sessions, verbs }) =>
      covers(sessions, session) && (verbs.includes(verb) || verbs.includes("admin")),
  );
}

/** Whether the grants allow a verb for a tool or an agent in a session. */
export function allowsFor(
  grants: readonly Grant[],
  session: string,
  verb: NamedVerb,
  name: string,
): boolean {
  return grants.some((grant) => covers(grant.sessions, session) && names(grant, verb, name));
}

/** Whether the grants allow a verb for any tool or agent at all in a session. */
export function allowsSome(grants: readonly Grant[], session: string, verb: NamedVerb): boolean {
  return grants.some(
    ({ sessions, verbs }) =>
      covers(sessions, session) &&
      verbs.some((held) => (held === "admin" && verb !== "agent") || held.startsWith(`${verb}:`)),
  );
}

/** Whether a grant has a verb for a tool or an agent, in the sessions it is for. */
export function names({ verbs }: Grant, verb: NamedVerb, name: string): boolean {
  return verbs.some(
    (held) =>
      // To be an agent is no power over sessions: it takes its own verb.
      (held === "admin" && verb !== "agent") ||
      (held === "data" && verb === "data") ||
      (held.startsWith(`${verb}:`) && fits(held.slice(verb.length + 1), name)),
  );
}

/** Whether a grant's pattern is for a session. What a server keeps under a control character is no session. */
export function covers(pattern: string, session: string): boolean {
  return session >= " " && fits(pattern, session);
}

/** Only a `*` at the end stands for anything. */
function fits(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
