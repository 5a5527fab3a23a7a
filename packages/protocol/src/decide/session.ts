import type { Metadata } from "../json.ts";
import { DEFAULT_POLICY, type Policy } from "../policy.ts";
import type { ToolDeclaration } from "../tool.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { APPLIED, record, refuse, type Ruling } from "./ruling.ts";

/** The first entries of a session. The draft must be new. */
export function createSession(
  draft: Draft,
  session: {
    readonly agent: string;
    readonly metadata?: Metadata;
    readonly policy?: Partial<Policy>;
  },
  env: Env,
): void {
  const { agent, metadata, policy } = session;
  record(draft, env, { type: "session.created", agent, ...(metadata && { metadata }) });
  if (policy) record(draft, env, { type: "policy.set", policy: { ...DEFAULT_POLICY, ...policy } });
}

export function setPolicy(draft: Draft, policy: Partial<Policy>, env: Env): Ruling {
  record(draft, env, { type: "policy.set", policy: { ...draft.state.session.policy, ...policy } });
  return APPLIED;
}

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
  record(draft, env, { type: "tools.advertised", tools: [...tools] });
  return APPLIED;
}
