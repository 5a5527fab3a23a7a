/** What a session does when a message meets an un-ended run, and with arguments that do not validate (SPEC 5.6). */
export interface Policy {
  /** The message's path has a queued or active run. */
  readonly whileActive: "queue" | "concurrent" | "refuse" | "replace" | "steer";
  /** The message's path has a suspended run. */
  readonly whilePending: "abandon" | "queue" | "refuse";
  /** `answer`: the model gets a structured error and no handler runs. `offer`: the executor gets them as they are. */
  readonly invalidArguments: "answer" | "offer";
  /** What one run may cost before it is ended with `budget_exceeded`. */
  readonly budget: Budget;
  /** The operator's word on tools, by name; `*` is any other. The stricter of this and the agent's wish holds. */
  readonly tools: readonly ToolRule[];
}

export interface Budget {
  /** Model requests. */
  readonly rounds: number;
  /** Calls of one tool with the same arguments. */
  readonly repeats: number;
}

export interface ToolRule {
  readonly tool: string;
  /** `always`, or a JSON Schema: arguments it fits ask, and so do those it cannot judge. */
  readonly approval?: "never" | "always" | { readonly when: Record<string, unknown> };
  /** Who may decide: principals, with `*` at the end for any that begin so. Absent: everyone who may decide at all. */
  readonly approvers?: readonly string[];
}

export const DEFAULT_POLICY: Policy = {
  whileActive: "queue",
  whilePending: "abandon",
  invalidArguments: "answer",
  budget: { rounds: 200, repeats: 25 },
  tools: [],
};
