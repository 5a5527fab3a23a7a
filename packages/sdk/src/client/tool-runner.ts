import {
  callsOf,
  HoldfastError,
  type Call,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";
import type { Provided, ToolProvision } from "./client-tool.ts";
import { executeCall } from "./execute-call.ts";
import type { Session } from "./session.ts";
import { createRequests, type ToolRequest } from "./tool-request.ts";

/** Takes and executes the calls of all tools that are provided through one session handle. */
export interface ToolRunner {
  provide(provided: Provided): ToolProvision;
}

/** The runner of a handle: one, so that a component mounted twice is still one executor. */
export function runnerOf(session: Session): ToolRunner {
  let runner = runners.get(session);
  if (!runner) runners.set(session, (runner = createRunner(session)));
  return runner;
}

const runners = new WeakMap<Session, ToolRunner>();

function createRunner(session: Session): ToolRunner {
  const tools = new Map<string, Provided[]>();
  /** Calls that are executed here, or about to be, each with its claim once there is one. */
  const running = new Map<string, string | undefined>();
  /** Where each call was open when a claim was last tried: one try for each time it opens. */
  const tried = new Map<string, string>();
  /** Calls that were given back here: whether they run here after all is a person's to say. */
  const givenBack = new Set<string>();
  const listeners = new Set<() => void>();
  let unsubscribe: (() => void) | undefined;

  function providerOf(name: string): Provided | undefined {
    return tools.get(name)?.at(-1);
  }

  /** What `look` saw last: text that streams is no reason to look again. */
  let seen: { readonly state: SessionState; readonly revision: number } | undefined;

  function lookIfChanged(): void {
    const { state } = session;
    if (seen?.state === state && seen.revision === state.index.callRevision) return;
    look();
    tell();
  }

  function tell(): void {
    for (const listener of listeners) listener();
  }

  function look(): void {
    const { state } = session;
    seen = { state, revision: state.index.callRevision };
    for (const runId of state.index.live) {
      for (const call of callsOf(state, runId)) {
        const provided = providerOf(call.name);
        if (!provided || !isOurs(state, call, provided) || waitsForPerson(call, provided)) continue;
        const opened = call.openedAt ?? call.offset;
        if (call.status !== "open" || running.has(call.id) || tried.get(call.id) === opened)
          continue;
        tried.set(call.id, opened);
        void take(call, provided);
      }
    }
  }

  function waitsForPerson(call: Call, { options }: Provided): boolean {
    return options.confirm === true || call.manual === true || givenBack.has(call.id);
  }

  /** Claims a call and executes it. Settles without throwing: `onError` hears of what is no lost race. */
  async function take(call: Call, { digest }: Provided): Promise<void> {
    running.set(call.id, undefined);
    tell();
    let again = false;
    try {
      const verdict = await session.claim(call.id, {
        ...(call.manual && { force: true }),
        ...(!isAgents(session.state, call) && { toolDigest: digest }),
      });
      const { claimId, offset } = verdict;
      running.set(call.id, claimId);
      const whole = withArguments(call, verdict);
      const provided = providerOf(call.name);
      // Meanwhile it may be gone, or be another version.
      if (provided?.digest !== digest) await session.release(call.id, claimId);
      else if (!whole) {
        // What it sees is changing: it is a person's to say whether it runs after that.
        givenBack.add(call.id);
        await session.release(call.id, claimId);
      } else {
        const held = { call: whole, claimId, since: offset };
        if ((await executeCall(session, held, provided)) === "released") givenBack.add(call.id);
      }
    } catch (error) {
      again = asError(error).retryable && !isLost(error);
      report(call, error);
    }
    running.delete(call.id);
    if (tools.size > 0) look();
    // Not at once, but with the next change.
    if (again) {
      tried.delete(call.id);
      seen = undefined;
    }
    tell();
  }

  function report(call: Call, error: unknown): void {
    if (!isLost(error)) providerOf(call.name)?.options.onError?.(asError(error));
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

  const requestsOf = createRequests(session, {
    async run({ id }) {
      const call = session.state.calls.get(id);
      const provided = call && providerOf(call.name);
      if (provided && call.status === "open" && !running.has(id)) await take(call, provided);
    },
    async act(call, how) {
      try {
        await how(running.get(call.id));
      } catch (error) {
        report(call, error);
      }
    },
  });

  function requests(name: string): readonly ToolRequest[] {
    const provided = providerOf(name);
    const { state } = session;
    const calls: [Call, ToolRequest["status"]][] = [];
    for (const runId of provided ? state.index.live : []) {
      for (const call of callsOf(state, runId)) {
        if (!provided || call.name !== name || !isOurs(state, call, provided)) continue;
        if (running.has(call.id)) calls.push([call, "here"]);
        else if (call.status === "claimed") calls.push([call, "elsewhere"]);
        else if (call.status === "open" && waitsForPerson(call, provided))
          calls.push([call, "waiting"]);
      }
    }
    return requestsOf(name, calls);
  }

  return {
    provide(provided) {
      const { name } = provided.tool;
      tools.set(name, [...(tools.get(name) ?? []), provided]);
      unsubscribe ??= session.subscribe(lookIfChanged);
      void advertise(provided);
      look();
      tell();
      const close = () => {
        const rest = tools.get(name)?.filter((it) => it !== provided) ?? [];
        if (rest.length > 0) tools.set(name, rest);
        else tools.delete(name);
        tell();
        if (tools.size > 0) return;
        unsubscribe?.();
        unsubscribe = undefined;
      };
      return {
        requests: () => requests(name),
        subscribe(listener) {
          // Wrapped, so that one function subscribed twice is two subscriptions.
          const entry = () => listener();
          listeners.add(entry);
          return () => void listeners.delete(entry);
        },
        close,
        [Symbol.dispose]: close,
      };
    },
  };
}

/** The call as it is to be executed: where its arguments are hidden here, with those that came with the claim. */
function withArguments(call: Call, verdict: Verdict): Call | undefined {
  if (!call.redacted) return call;
  return verdict.arguments === undefined ? undefined : { ...call, arguments: verdict.arguments };
}

/** Whether this client may execute the call: it is a client's, and was proposed with the schema that is provided here. */
function isOurs(state: SessionState, call: Call, { digest }: Provided): boolean {
  if (call.executor !== "client" || call.status === "settled") return false;
  return call.tool?.digest === undefined || call.tool.digest === digest || isAgents(state, call);
}

/** Whether the agent itself declares the call's tool: what it says of it is for every client that has one of the name. */
function isAgents(state: SessionState, call: Call): boolean {
  return state.runs.get(call.runId)?.tools.some(({ name }) => name === call.name) ?? false;
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
