import type { Command, Verdict } from "../command.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";

/**
 * Decides one command against a session's state (SPEC 6): appends what follows to the draft, or refuses.
 *
 * A rejection leaves draft and state exactly as they were: every refusal comes before the first event. Deterministic
 * given state, command and env.
 */
export declare function decide(draft: Draft, command: Command, env: Env): Verdict;
