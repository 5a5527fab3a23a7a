import { HoldfastError, type Call, type Json, type Verdict } from "@holdfast/protocol";
import { systemTiming } from "../wire/index.ts";
import type { AnyClientTool, Provided, ProvideOptions, ToolContext } from "./client-tool.ts";
import type { Session } from "./session.ts";
import { parseWith } from "./tool-schema.ts";

export interface Held {
  readonly call: Call;
  readonly claimId: string;
  /** The head at which the claim holds; an older state does not know of it yet. */
  readonly since: string;
}

/** Runs one claimed call to its answer, or until the tool declines it or gives it back. */
export async function executeCall(
  session: Session,
  held: Held,
  { tool, options }: Pick<Provided, "tool" | "options">,
): Promise<"ended" | "released"> {
  const { call, claimId } = held;
  const lost = new AbortController();
  const done = new AbortController();
  const unsubscribe = session.subscribe(() => {
    const reason = lossOf(session, held);
    if (reason) lost.abort(reason);
  });
  void renew(session, held, options, done.signal);
  /** What the tool made of the call itself; its first word counts. */
  let own: { readonly end: "ended" | "released"; readonly verdict: Promise<Verdict> } | undefined;
  const endAs = (end: "ended" | "released", act: () => Promise<Verdict>) =>
    (own ??= { end, verdict: act() }).verdict.then(ignore, ignore);
  try {
    const outcome = await outcomeOf(tool, call, {
      callId: call.id,
      call,
      idempotencyKey: `${session.id}/${call.id}`,
      signal: lost.signal,
      progress: (value) =>
        session.progress(call.id, value, { claimId, signal: lost.signal }).then(ignore, ignore),
      decline: (reason) => endAs("ended", () => session.decline(call.id, reason, { claimId })),
      release: () => endAs("released", () => session.release(call.id, claimId)),
    });
    if (lost.signal.aborted && !own) return "ended";
    const { offset } = await (own ? own.verdict : answer(session, held, outcome));
    // A state that does not know of the answer yet may show the call as open: do not take it again.
    await session.reached(offset);
    return own ? own.end : "ended";
  } finally {
    done.abort();
    unsubscribe();
  }
}

function ignore(): void {}

type Outcome = { readonly value: Json | undefined } | { readonly error: string };

/** Answers, once: a value that the tool's own result schema does not take is the tool's failure. */
async function answer(
  session: Session,
  { call, claimId }: Held,
  outcome: Outcome,
): Promise<Verdict> {
  const fail = (error: string) =>
    session.answer(call.id, error, { claimId, outcome: "error", as: "text" });
  if ("error" in outcome) return fail(outcome.error);
  try {
    return await session.answer(call.id, outcome.value, { claimId });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid_result") throw error;
    return fail(`The tool gave a result that its schema does not take: ${error.message}`);
  }
}

async function outcomeOf(tool: AnyClientTool, call: Call, context: ToolContext): Promise<Outcome> {
  try {
    const args = await parseWith(tool.parameters, argumentsOf(call));
    const value = await tool.execute(args as never, context);
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
