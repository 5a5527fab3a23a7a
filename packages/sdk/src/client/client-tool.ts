import {
  callsOf,
  HoldfastError,
  type Call,
  type Json,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";
import { systemTiming, type Timing } from "../wire/index.ts";
import type { Session } from "./session.ts";

/** A tool that this client executes. */
export interface ClientTool<Args = Json> extends Omit<ToolDeclaration, "executor"> {
  /**
   * Runs the call and gives its answer; `undefined` is answered as `null`, a throw as an error with its message.
   * Arguments are as parsed (text where the call says so); the server has validated them against `parameters`.
   */
  readonly execute: (
    args: Args,
    context: ToolContext,
  ) => Json | undefined | void | Promise<Json | undefined | void>;
}

export interface ToolContext {
  readonly callId: string;
  readonly call: Call;
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
 * Calls that are `manual` (a claim expired on them, and running twice may do harm) are left to people.
 *
 * Closing stops taking calls; one that runs goes on to its answer, since its effects may have begun.
 */
export function provideTool<Args = Json>(
  session: Session,
  tool: ClientTool<Args>,
  options: ProvideOptions = {},
): ToolProvision {
  let runner = runners.get(session);
  if (!runner) runners.set(session, (runner = createRunner(session)));
  // Arguments come from outside; their type is the tool author's word, checked by the server's validation.
  return runner.provide({ tool: tool as ClientTool<never>, options });
}

interface Provided {
  readonly tool: ClientTool<never>;
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
        if (running.has(call.id) || tried.get(call.id) === opened || !tools.has(call.name))
          continue;
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
      if (provided) await execute(session, { call, claimId, since: offset }, provided);
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

  async function advertise({ tool, options }: Provided): Promise<void> {
    try {
      await session.ready();
      const { execute: _, ...declared } = tool;
      const declaration: ToolDeclaration = { ...declared, executor: "client" };
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

interface Held {
  readonly call: Call;
  readonly claimId: string;
  /** The head at which the claim holds; an older state does not know of it yet. */
  readonly since: string;
}

/** Runs one claimed call to its answer. */
async function execute(session: Session, held: Held, { tool, options }: Provided): Promise<void> {
  const { call, claimId } = held;
  const lost = new AbortController();
  const done = new AbortController();
  const unsubscribe = session.subscribe(() => {
    const reason = lossOf(session, held);
    if (reason) lost.abort(reason);
  });
  void renew(session, held, options, done.signal);
  try {
    const outcome = await outcomeOf(tool, call, {
      callId: call.id,
      call,
      signal: lost.signal,
      progress: (value) =>
        session.progress(call.id, value, { claimId, signal: lost.signal }).then(
          () => {},
          () => {},
        ),
    });
    if (lost.signal.aborted) return;
    const { offset } = await ("value" in outcome
      ? session.answer(call.id, outcome.value, { claimId })
      : session.answer(call.id, outcome.error, { claimId, outcome: "error", as: "text" }));
    // A state that does not know of the answer yet may show the call as open: do not take it again.
    await session.reached(offset);
  } finally {
    done.abort();
    unsubscribe();
  }
}

async function outcomeOf(
  tool: ClientTool<never>,
  call: Call,
  context: ToolContext,
): Promise<{ value: Json | undefined } | { error: string }> {
  try {
    const args = argumentsOf(call) as never;
    const value = await tool.execute(args, context);
    // What cannot be sent as JSON is the tool's failure, not the session's.
    JSON.stringify(value);
    return { value: value ?? undefined };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function argumentsOf(call: Call): Json {
  if (call.argumentsEncoding === "text") return call.arguments;
  return call.arguments.trim() === "" ? {} : (JSON.parse(call.arguments) as Json);
}

/** Keeps a claim until `done`. A claim that expired is not an end: the call can still be answered by its last holder. */
async function renew(
  session: Session,
  { call, claimId }: Held,
  { heartbeatMs = 10_000, timing = systemTiming }: ProvideOptions,
  done: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await timing.sleep(heartbeatMs, done);
      await session.renew(call.id, claimId, { signal: done });
    }
  } catch {
    // Done, or lost; the state says which, and whoever runs the call hears of it there.
  }
}

/** Why a held call is no longer ours to answer, or undefined while it is. */
function lossOf(session: Session, { call, claimId, since }: Held): Error | undefined {
  if (session.status.type === "closed")
    return new HoldfastError({ code: "closed", message: "The session was closed." });
  if (session.state.head < since) return undefined;
  const now = session.state.calls.get(call.id);
  if (!now || now.status === "settled")
    return new HoldfastError({
      code: "call_settled",
      message: `Call ${call.id} was settled elsewhere${now?.outcome ? ` (${now.outcome})` : ""}.`,
    });
  if (now.claim && now.claim.id !== claimId)
    return new HoldfastError({
      code: "claim_lost",
      message: `Call ${call.id} is executed by ${now.claim.by} now.`,
    });
  return undefined;
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
