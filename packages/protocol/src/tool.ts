import { canonical } from "./canonical.ts";
import type { Metadata } from "./json.ts";

/** What a tool says of itself, to the server as to the model. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema (2020-12 or draft-07) of the arguments. Absent: not validated. */
  readonly parameters?: Record<string, unknown>;
  /** Who executes. `client`: an application claims it. Default: the agent that declares it. */
  readonly executor?: "client" | "agent";
  /** Whether a person decides before it runs. Absent: `always` where `sideEffects` is true, else `never`. */
  readonly approval?: "never" | "always";
  readonly sideEffects?: boolean;
  /** `safe`: running it twice does no harm, so an expired claim lets another run it. */
  readonly retry?: "safe" | "unsafe";
  /** Milliseconds from `open` until the call expires unanswered. Absent: none. */
  readonly deadlineMs?: number;
  /** Milliseconds from `gated` until the approval expires. Absent: none. */
  readonly approvalMs?: number;
  /** Milliseconds that a call may wait for a person before it is escalated, once. Absent: never. */
  readonly escalateMs?: number;
  /** JSON Schema of a client's answer. Absent: not validated. */
  readonly result?: Record<string, unknown>;
  /** SHA-256, hex, of {@link schemaText}. The server's word: what a command says of it is not kept. */
  readonly digest?: string;
  readonly metadata?: Metadata;
}

/** The text whose digest tells one schema of a tool's arguments from another (SPEC 4.3.7). */
export function schemaText({ parameters }: Pick<ToolDeclaration, "parameters">): string {
  return canonical(parameters ?? {});
}
