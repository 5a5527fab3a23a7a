import { sha256 } from "../audit/chain.ts";
import {
  callsOf,
  echoIn,
  eraseEntry,
  parseOffset,
  toOffset,
  type ContentErase,
  type Echo,
  type Entry,
  type ErasedMark,
  type ErasedTarget,
  type Offset,
  type SessionState,
} from "@holdfast/protocol";
import type { Batch, Storage } from "../storage/storage.ts";

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
export interface Trace {
  readonly target: ErasedTarget;
  /** Before it nothing is said of the target; absent where that is not known. */
  readonly from?: Offset;
  readonly head: Offset;
  readonly erased: ErasedMark;
  /** The calls whose late answers are erased too. */
  readonly calls: readonly string[];
}

/** What the state says of an erasure under an id that {@link erasureId} made. */
export function traceOf(state: SessionState, id: string, otherwise: ErasedMark): Trace {
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

/**
 * Takes what a target says out of the stored log, up to the head, and out of the records of late answers. The state is
 * erased already, so that nothing more can come. Done again, it changes nothing.
 */
export async function eraseLog(storage: Storage, session: string, trace: Trace): Promise<void> {
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
