import type { InvalidArguments } from "../events.ts";
import type { ContentLimits } from "./limits.ts";
import type { ToolDeclaration } from "../tool.ts";

/** Who commands, verified by the server. */
export interface Actor {
  /** `user:<name>`, `agent:<name>`, `app:<name>` or `server`. */
  readonly principal: string;
  /** The attempt whose token it carries: what makes it the agent's side. */
  readonly attempt?: { readonly runId: string; readonly attempt: number };
  /** Whether it may answer calls of a client's tool, decide on calls of a tool, or see their data. Absent: it may. */
  readonly may?: (verb: "answer" | "approve" | "data", tool: string) => boolean;
}

/** Everything a decision needs beside state and command, so that deciding stays free of clock, chance and I/O. */
export interface Env {
  /** The step an attempt's batch belongs to. */
  readonly step?: { readonly stepId: string; readonly stepAttempt: number };
  /** Unix milliseconds, the storage's clock. */
  readonly now: number;
  readonly actor: Actor;
  /** A new id, unique in the session. */
  newId(kind: "run" | "wake" | "claim" | "approval" | "message" | "call"): string;
  /** SHA-256, hex, of the UTF-8 text. */
  digest(text: string): string;
  /**
   * Checks parsed arguments against the tool's schema; undefined when they are fine or there is none. A problem that
   * names no `paths` is the schema's own: nothing can be said of the arguments.
   */
  validate(tool: ToolDeclaration, value: unknown): InvalidArguments | undefined;
  /** How much of anything is taken; without it, all. */
  readonly limits?: ContentLimits;
}
