import { canonical } from "../canonical.ts";
import { bytesBeyond } from "../json-size.ts";
import type { Metadata } from "../json.ts";
import { DEFAULT_POLICY, type Policy } from "../policy.ts";
import type { SessionState } from "../state.ts";
import { schemaText, type ToolDeclaration } from "../tool.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";

/** The first entries of a session. The draft must be new. */
export function createSession(
  draft: Draft,
  session: {
    readonly agent: string;
    /** Whose it is; without one, the actor's. */
    readonly owner?: string;
    readonly metadata?: Metadata;
    readonly policy?: Partial<Policy>;
    /** How long after the last accepted act it is deleted, in milliseconds. */
    readonly ttlMs?: number;
  },
  env: Env,
): void {
  const { agent, owner, metadata, policy, ttlMs } = session;
  record(draft, env, {
    type: "session.created",
    agent,
    ...(owner !== undefined && { owner }),
    ...(metadata && { metadata }),
    ...(ttlMs !== undefined && { ttlMs }),
  });
  if (policy) record(draft, env, { type: "policy.set", policy: { ...DEFAULT_POLICY, ...policy } });
}

export function setPolicy(draft: Draft, policy: Partial<Policy>, env: Env): Ruling {
  record(draft, env, { type: "policy.set", policy: { ...draft.state.session.policy, ...policy } });
  return APPLIED;
}

/** Notes which tools clients execute from the next attempts on. The same again, soon after, changes nothing. */
export function advertiseTools(draft: Draft, tools: readonly ToolDeclaration[], env: Env): Ruling {
  const { state } = draft;
  for (const id of state.index.live) {
    for (const declared of state.runs.get(id)?.tools ?? []) {
      if (declared.executor === "client" || !tools.some((tool) => tool.name === declared.name))
        continue;
      return refuse(
        "tool_name_taken",
        `The agent executes a tool called ${declared.name} itself: advertise yours under another name.`,
        { name: declared.name },
      );
    }
  }
  const advertised = tools.map((tool) => withDigest(tool, env));
  if (advertised.every((tool) => isFresh(state, tool, env))) return REPEATED;
  const names = new Set(tools.map(({ name }) => name));
  const others = state.session.advertised.filter(({ tool }) => !names.has(tool.name));
  const limit = env.limits?.eventBytes ?? Infinity;
  const value = bytesBeyond([...others.map(({ tool }) => tool), ...advertised], limit);
  if (value !== undefined) {
    return refuse(
      "too_large",
      `The tools that clients advertise here would have ${value} bytes, and may have ${limit}: advertise less.`,
      { limit, value },
    );
  }
  record(draft, env, { type: "tools.advertised", tools: advertised });
  return APPLIED;
}

/** The declaration with the digest of its schema, whatever it said of that itself. */
export function withDigest(tool: ToolDeclaration, env: Env): ToolDeclaration {
  return { ...tool, digest: env.digest(schemaText(tool)) };
}

/**
 * How long the same advertisement says nothing new, in milliseconds: every tab advertises when it opens and again when it
 * reconnects, and the log is not to grow by that. `lastSeen` is exact to this much.
 */
const FRESH_MS = 60_000;

function isFresh({ session }: SessionState, tool: ToolDeclaration, { now }: Env): boolean {
  const known = session.advertised.find((it) => it.tool.name === tool.name);
  if (!known || now - known.lastSeen > FRESH_MS) return false;
  return canonical(known.tool) === canonical(tool);
}
