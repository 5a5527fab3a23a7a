import {
  callsOf,
  HoldfastError,
  schemaText,
  type Call,
  type Json,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";
import type { Timing } from "../wire/index.ts";
import { executeCall } from "./execute-call.ts";
import type { Session } from "./session.ts";
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
  /** The same however often the call is executed, and another for every other call: give it to whoever has the effect. */
  readonly idempotencyKey: string;
  /** Aborted when the call is settled or claimed elsewhere, or the session is closed: nothing that follows is used. */
  readonly signal: AbortSignal;
  /** Shows how far it is. Settles without throwing: progress is worth nothing once the call is lost. */
  readonly progress: (value: Json) => Promise<void>;
}

export interface ProvideOptions {
  /** How often a claim is renewed while it is executed, milliseconds. Default 10 s. */
  readonly heartbeatMs?: number;
  readonly timing?: Timing;
  /** Hears why advertising, claiming or answering failed, losing a race aside. */
  readonly onError?: (error: HoldfastError) => void;
}

/** A tool that is provided until it is closed. */
export interface ToolProvision extends Disposable {
  close(): void;
}

/**
 * Executes a session's calls of one tool: advertises it, claims each open call once, runs it and answers. Of several
 * tabs, devices and providers of one name, only the one that is granted the claim runs a call; the others do nothing.
 * A call that was proposed with another version's schema is left to clients that have that one. Calls that are `manual` (a claim expired on them, and running twice may do harm) are left to people.
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
  let runner = runners.get(session);
  if (!runner) runners.set(session, (runner = createRunner(session)));
  return runner.provide({ tool, declaration: declarationOf(tool), options });
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
  readonly options: ProvideOptions;
}

interface Runner {
  provide(provided: Provided): ToolProvision;
}

/** One per session handle, so that a component mounted twice is still one executor. */
const runners = new WeakMap<Session, Runner>();

function createRunner(session: Session): Runner {
  const tools = new Map<string, Provided[]>();
  const running = new Set<string>();
  /** Where each call was open when a claim was last tried: one try for each time it opens. */
  const tried = new Map<string, string>();
  let unsubscribe: (() => void) | undefined;

  function providerOf(name: string): Provided | undefined {
    return tools.get(name)?.at(-1);
  }

  /** What `look` saw last: text that streams is no reason to look again. */
  let seen: { readonly state: SessionState; readonly revision: number } | undefined;

  function lookIfChanged(): void {
    const { state } = session;
    if (seen?.state !== state || seen.revision !== state.index.callRevision) look();
  }

  function look(): void {
    const { state } = session;
    seen = { state, revision: state.index.callRevision };
    for (const runId of state.index.live) {
      for (const call of callsOf(state, runId)) {
        if (call.status !== "open" || call.executor !== "client" || call.manual) continue;
        const opened = call.openedAt ?? call.offset;
        const declaration = providerOf(call.name)?.declaration;
        if (running.has(call.id) || tried.get(call.id) === opened || !declaration) continue;
        if (isOfAnother(state, call, declaration)) continue;
        tried.set(call.id, opened);
        void take(call);
      }
    }
  }

  async function take(call: Call): Promise<void> {
    running.add(call.id);
    let again = false;
    try {
      const { claimId, offset } = await session.claim(call.id);
      const provided = providerOf(call.name);
      if (provided) await executeCall(session, { call, claimId, since: offset }, provided);
      else await session.release(call.id, claimId);
    } catch (error) {
      const failure = asError(error);
      if (!isLost(failure)) {
        again = failure.retryable;
        providerOf(call.name)?.options.onError?.(failure);
      }
    }
    running.delete(call.id);
    if (tools.size > 0) look();
    // Not at once, but with the next change.
    if (again) {
      tried.delete(call.id);
      seen = undefined;
    }
  }

  async function advertise({ tool, declaration, options }: Provided): Promise<void> {
    try {
      await session.ready();
      const known = session.state.session.advertised.find((it) => it.tool.name === tool.name);
      // The digest is the server's word on the same schema.
      const { digest: _digest, ...said } = known?.tool ?? declaration;
      if (!known || !sameJson(said, declaration)) await session.advertise([declaration]);
    } catch (error) {
      if (session.status.type !== "closed" || !isLost(error)) options.onError?.(asError(error));
    }
  }

  return {
    provide(provided) {
      const { name } = provided.tool;
      tools.set(name, [...(tools.get(name) ?? []), provided]);
      unsubscribe ??= session.subscribe(lookIfChanged);
      void advertise(provided);
      look();
      const close = () => {
        const rest = tools.get(name)?.filter((it) => it !== provided) ?? [];
        if (rest.length > 0) tools.set(name, rest);
        else tools.delete(name);
        if (tools.size > 0) return;
        unsubscribe?.();
        unsubscribe = undefined;
      };
      return { close, [Symbol.dispose]: close };
    },
  };
}

/**
 * Whether the call was proposed with another schema that clients advertised: it is theirs. What the agent itself says
 * of a tool is for every client that has it.
 */
function isOfAnother(state: SessionState, call: Call, ours: ToolDeclaration): boolean {
  if (!call.tool || !ours.parameters) return false;
  const run = state.runs.get(call.runId);
  if (run?.tools.some(({ name }) => name === call.name)) return false;
  return schemaText(call.tool) !== schemaText(ours);
}

/** Refusals that only say: somebody else had it, or it is over. */
function isLost(error: unknown): boolean {
  return error instanceof HoldfastError && LOST.has(error.code);
}

const LOST = new Set([
  "claim_held",
  "claim_lost",
  "not_claimed",
  "call_settled",
  "already_answered",
  "retry_unsafe",
  "unknown_call",
  "closed",
]);

function asError(error: unknown): HoldfastError {
  return error instanceof HoldfastError
    ? error
    : new HoldfastError({ code: "internal", message: String(error) }, { cause: error });
}

/** Whether two values are the same JSON; the order of keys does not matter. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const keys = (value: object) =>
    Object.entries(value).flatMap(([key, it]) => (it === undefined ? [] : [key]));
  const ours = keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    ours.length === keys(b).length &&
    ours.every((key) => sameJson(Reflect.get(a, key), Reflect.get(b, key)))
  );
}
