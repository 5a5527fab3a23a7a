import { sha256 } from "../audit/chain.ts";
import {
  eraseEntry,
  parseOffset,
  toOffset,
  type ContentErase,
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
  return JSON.stringify(
    "callId" in command ? { callId: command.callId } : { messageId: command.messageId },
  );
}

/** Where and what is to be erased of a session's log. */
export interface Trace {
  readonly target: ErasedTarget;
  /** Where the target begins; absent where the state does not have it any more. */
  readonly from?: Offset;
  readonly head: Offset;
  readonly erased: ErasedMark;
}

/** What the state says of an erasure under an id that {@link erasureId} made. */
export function traceOf(state: SessionState, id: string, otherwise: ErasedMark): Trace {
  const target = JSON.parse(id) as ErasedTarget; // written by erasureId alone
  const { head } = state;
  const said =
    "callId" in target
      ? state.calls.get(target.callId)
      : (state.messages.get(target.messageId) ?? state.items.get(target.messageId));
  if (!said) return { target, head, erased: otherwise };
  const erased = "erased" in said && said.erased ? said.erased : otherwise;
  return { target, from: said.offset, head, erased };
}

/**
 * Takes what a target says out of the stored log, up to the head, and out of the records of late answers. The state is
 * erased already, so that nothing more can come. Done again, it changes nothing.
 */
export async function eraseLog(storage: Storage, session: string, trace: Trace): Promise<void> {
  const { target, from, head } = trace;
  const place = parseOffset(from ?? head);
  if (!place) return;
  const batches: Batch[] = [];
  let cursor = toOffset(place.epoch, from === undefined ? 0 : place.seq - 1);
  while (cursor < head) {
    const read = await storage.entries(session, cursor, READ_BYTES);
    const last = read.at(-1);
    if (!last) break;
    for (const batch of read) {
      const without = eraseBatch(batch, trace);
      if (without) batches.push(without);
    }
    cursor = last.last;
  }
  await storage.erase(session, { batches, ...("callId" in target && { late: target.callId }) });
}

function eraseBatch(batch: Batch, { target, erased }: Trace): Batch | undefined {
  const id = JSON.stringify("callId" in target ? target.callId : target.messageId);
  // Most batches name it nowhere, and are not parsed.
  if (!batch.json.includes(id)) return undefined;
  let isChanged = false;
  const entries = (JSON.parse(batch.json) as Entry[]).map((entry) => {
    const without = eraseEntry(entry, target, erased, sha256);
    if (without) isChanged = true;
    return without ?? entry;
  });
  return isChanged ? { ...batch, json: JSON.stringify(entries) } : undefined;
}
