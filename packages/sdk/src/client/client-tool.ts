import {
  schemaText,
  type Call,
  type HoldfastError,
  type Json,
  type ToolDeclaration,
} from "@holdfast/protocol";
import type { Timing } from "../wire/index.ts";
import type { Session } from "./session.ts";
import { sha256 } from "./sha256.ts";
import type { ToolRequest } from "./tool-request.ts";
import { runnerOf } from "./tool-runner.ts";
import { toJsonSchema, type ToolSchema } from "./tool-schema.ts";

/** A tool that this client executes. */
export interface ClientTool<Args = Json> extends Omit<
  ToolDeclaration,
  "executor" | "parameters" | "result"
> {
  /**
   * What the arguments are: JSON Schema, which the server checks, or a Standard Schema (zod 4 and others), which is
   * declared as JSON Schema and checks them once more, and converts them, before `execute`.
   */
  readonly parameters?: ToolSchema<Args>;
  /** What the answer is; the server takes no other. */
  readonly result?: ToolSchema;
  /**
   * Runs the call and gives its answer; `undefined` is answered as `null`, a throw as an error with its message.
   * Arguments are as `parameters` gives them (text where the call says so); invalid ones are answered as an error that
   * names where, and nothing runs.
   */
  readonly execute: (
    args: Args,
    context: ToolContext,
  ) => Json | undefined | void | Promise<Json | undefined | void>;
}

export interface ToolContext {
  readonly callId: string;
  readonly call: Call;
  /**
   * The session's id and the call's, `session/call`: the same however often the call is executed, and another for every
   * other call, since providers repeat call ids from one session to the next. Give it to whoever has the effect.
   */
  readonly idempotencyKey: string;
  /** Aborted when the call is settled or claimed elsewhere, or the session is closed: nothing that follows is used. */
  readonly signal: AbortSignal;
  /** Shows how far it is. Settles without throwing: progress is worth nothing once the call is lost. */
  readonly progress: (value: Json) => Promise<void>;
  /**
   * Ends the call unexecuted, as the person's word: it is answered as an error with the reason `declined`, which the
   * model reads. Settles without throwing; what `execute` gives or throws afterwards is not used.
   */
  readonly decline: (reason: string) => Promise<void>;
  /**
   * Gives the call back, as your word that nothing was done: it is open again, for other pages and for a person, and
   * this page takes it again only when it is told to. Settles and ends the execution as `decline` does.
   */
  readonly release: () => Promise<void>;
}

export interface ProvideOptions {
  /**
   * Asks a person first: nothing is claimed until `run` of one of the provision's requests is called, so that a page
   * whose person does nothing holds nothing. Default: every call is taken as soon as it is open.
   */
  readonly confirm?: boolean;
  /** How often a claim is renewed while it is executed, milliseconds. Default 10 s. */
  readonly heartbeatMs?: number;
  readonly timing?: Timing;
  /** Hears why advertising, claiming or answering failed, losing a race aside. */
  readonly onError?: (error: HoldfastError) => void;
}

/** A tool that is provided until it is closed. */
export interface ToolProvision extends Disposable {
  /**
   * The tool's calls that run somewhere or wait for a person: all open ones with `confirm`, else those that are
   * `manual` or were given back here. The same list while nothing in it changed.
   */
  readonly requests: () => readonly ToolRequest[];
  /** Hears that `requests` may have changed. @returns what ends it */
  readonly subscribe: (listener: () => void) => () => void;
  close(): void;
}

/**
 * Executes a session's calls of one tool: advertises it, claims each open call once, runs it and answers. Of several
 * tabs, devices and providers of one name, only the one that is granted the claim runs a call; the others do nothing.
 * Every claim names the digest of the schema that is provided, so that the server refuses it for a call that was proposed
 * with another version's: such calls are left to clients that have that one. Calls that are `manual` (a claim expired on
 * them, and running twice may do harm) are left to people.
 *
 * Closing stops taking calls; one that runs goes on to its answer, since its effects may have begun.
 *
 * @throws {TypeError} for a Standard Schema that does not say itself as JSON Schema
 */
export function provideTool<Args = Json>(
  session: Session,
  tool: ClientTool<Args>,
  options: ProvideOptions = {},
): ToolProvision {
  const declaration = declarationOf(tool);
  // As it will be read from JSON, where what cannot be said is gone.
  const sent = JSON.parse(JSON.stringify(declaration)) as ToolDeclaration;
  return runnerOf(session).provide({
    tool,
    declaration,
    digest: sha256(schemaText(sent)),
    options,
  });
}

/**
 * What the server is told of a tool.
 *
 * @throws {TypeError} for a Standard Schema that does not say itself as JSON Schema
 */
export function declarationOf<Args>(tool: ClientTool<Args>): ToolDeclaration {
  const { execute: _, parameters, result, ...declared } = tool;
  return {
    ...declared,
    executor: "client",
    ...(parameters && { parameters: toJsonSchema(parameters) }),
    ...(result && { result: toJsonSchema(result) }),
  };
}

/** Arguments come from outside; their type is the tool author's word, checked by its schema. */
export type AnyClientTool = Omit<ClientTool<unknown>, "execute"> & {
  readonly execute: ClientTool<never>["execute"];
};

export interface Provided {
  readonly tool: AnyClientTool;
  readonly declaration: ToolDeclaration;
  /** Of its schema, as the server computes it (SPEC 4.3.7). */
  readonly digest: string;
  readonly options: ProvideOptions;
}
