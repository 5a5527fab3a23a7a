import { sha256 } from "../audit/chain.ts";
import {
  callsOf,
  echoIn,
  eraseEntry,
  parseOffset,
  toOffset,
  type Command,
  type ContentErase,
  type Draft,
  type Echo,
  type Entry,
  type Env,
  type ErasedMark,
  type ErasedTarget,
  type Offset,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";
import type { Batch, Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import type { Audit } from "./audit.ts";
import { unknownSession } from "./errors.ts";

/** When an erasure is taken up again that was begun and not finished, in milliseconds. */
export const ERASURE_RETRY_MS = 60_000;

/** How much of the log one read brings in, in bytes of JSON. */
const READ_BYTES = 1 << 20;

/** What an erasure is under in the index of what is due. */
export function erasureId(command: ContentErase): string {
  return JSON.stringify(targetOf(command));
}

function targetOf(command: ContentErase): ErasedTarget {
  if ("callId" in command) return { callId: command.callId };
  return "runId" in command ? { runId: command.runId } : { messageId: command.messageId };
}

/** Where and what is to be erased of a session's log. */
interface Trace {
  readonly target: ErasedTarget;
  /** Before it nothing is said of the target; absent where that is not known. */
  readonly from?: Offset;
  readonly head: Offset;
  readonly erased: ErasedMark;
  /** The calls whose late answers are erased too. */
  readonly calls: readonly string[];
}

/** What the state says of an erasure under an id that {@link erasureId} made. */
function traceOf(state: SessionState, id: string, otherwise: ErasedMark): Trace {
  const target = JSON.parse(id) as ErasedTarget; // written by erasureId alone
  const { head } = state;
  if ("messageId" in target) {
    const { messageId } = target;
    const said = state.messages.get(messageId) ?? state.items.get(messageId);
    const mark = said && "erased" in said ? said.erased : undefined;
    // What was taken back may have had this id before.
    return { target, head, erased: mark ?? otherwise, calls: [] };
  }
  const isCall = "callId" in target;
  const said = isCall ? state.calls.get(target.callId) : state.runs.get(target.runId);
  const calls = isCall ? [target.callId] : callsOf(state, target.runId).map((call) => call.id);
  const from = said && { from: said.offset };
  return { target, ...from, head, erased: said?.erased ?? otherwise, calls };
}

/** What {@link finishErasure} needs of the engine. */
export interface Eraser {
  readonly storage: Storage;
  readonly audit: Pick<Audit, "flush">;
  /** Does something to a session in the server's own name; undefined for an unknown session. */
  readonly act: <T>(
    session: string,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ) => Promise<T | undefined>;
}

/**
 * Brings an erasure to its end: the log says no more of it than the state does, and its timer goes. Done again, it
 * changes nothing.
 *
 * @throws HoldfastError `unknown_session`
 */
export async function finishErasure(
  { storage, audit, act }: Eraser,
  session: string,
  id: string,
): Promise<void> {
  const trace = await act(session, ({ state }, { now, actor }) =>
    traceOf(state, id, { by: actor.principal, at: now }),
  );
  if (!trace) throw unknownSession(session);
  // A late answer may still wait to be written, with what it says.
  await audit.flush();
  await eraseLog(storage, session, trace);
  await act(session, (_draft, _env, on) => on.due.remove("erasure", id, ""));
}

/** The verdicts of commands, once the log says no more of what they erased than the state does. */
export async function finishErasures(
  eraser: Eraser,
  session: string,
  commands: readonly Command[],
  verdicts: Verdict[],
): Promise<Verdict[]> {
  for (const [index, command] of commands.entries()) {
    if (command.type !== "content.erase" || verdicts[index]?.error) continue;
    await finishErasure(eraser, session, erasureId(command));
  }
  return verdicts;
}

/**
 * Takes what a target says out of the stored log, up to the head, and out of the records of late answers. The state is
 * erased already, so that nothing more can come. Done again, it changes nothing.
 */
async function eraseLog(storage: Storage, session: string, trace: Trace): Promise<void> {
  const { target, erased, calls } = trace;
  const targets: Echo[] = [target];
  if ("callId" in target) {
    for await (const batch of batchesOf(storage, session, trace)) {
      if (!names(batch, target)) continue;
      for (const entry of JSON.parse(batch.json) as Entry[]) {
        const echo = echoIn(entry, target);
        if (echo) targets.push(echo);
      }
    }
  }
  const batches: Batch[] = [];
  for await (const batch of batchesOf(storage, session, trace)) {
    const without = eraseBatch(batch, targets, erased);
    if (without) batches.push(without);
  }
  const [first, ...others] = calls;
  await Promise.all([
    storage.erase(session, { batches, ...(first !== undefined && { late: first }) }),
    ...others.map((late) => storage.erase(session, { batches: [], late })),
  ]);
}

/** The log from where the target begins. */
async function* batchesOf(
  storage: Storage,
  session: string,
  { from, head }: Trace,
): AsyncGenerator<Batch> {
  const place = parseOffset(from ?? head);
  if (!place) return;
  let cursor = toOffset(place.epoch, from === undefined ? 0 : place.seq - 1);
  while (cursor < head) {
    const read = await storage.entries(session, cursor, READ_BYTES);
    const last = read.at(-1);
    if (!last) return;
    yield* read;
    cursor = last.last;
  }
}

function eraseBatch(batch: Batch, targets: readonly Echo[], erased: ErasedMark): Batch | undefined {
  // Most batches name none of them, and are not parsed.
  const named = targets.filter((target) => names(batch, target));
  if (named.length === 0) return undefined;
  let isChanged = false;
  const entries = (JSON.parse(batch.json) as Entry[]).map((entry) => {
    for (const target of named) {
      const without = eraseEntry(entry, target, erased, sha256);
      if (!without) continue;
      isChanged = true;
      return without;
    }
    return entry;
  });
  return isChanged ? { ...batch, json: JSON.stringify(entries) } : undefined;
}

function names({ json }: Batch, target: Echo): boolean {
  return Object.values(target).some((id) => json.includes(JSON.stringify(id)));
}
