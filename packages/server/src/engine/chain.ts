import { canonical, HoldfastError, reject, type Entry, type Offset } from "@holdfast/protocol";
import { chainStart, linkAct, linkRefusals, sha256, type ChainHead } from "../audit/chain.ts";
import {
  isGenuine,
  signCheckpoint,
  type Checkpoint,
  type RefusalsKept,
} from "../audit/checkpoint.ts";
import type { AuditKey } from "../audit/key.ts";
import { unexplained, type Kept } from "../audit/retention.ts";
import type { ActLine, RefusalRecord } from "../audit/verify.ts";
import type { AuditAddition, AuditRow, Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { cursorIn } from "./cursor.ts";
import { busy } from "./errors.ts";
import { isSameLife } from "./frame.ts";

/** What a chain is kept with. */
export interface ChainContext {
  readonly storage: Storage;
  readonly key: AuditKey;
  /** Public keys that signed before this one did. */
  readonly formerKeys: readonly string[];
}

/** A session's chain as far as it is signed, and what was kept beside it at that moment. */
export interface Signed extends ChainHead {
  /** The log's head it goes up to. */
  readonly offset: Offset;
  readonly refusals: RefusalsKept;
  /** Everything in the session's audit, oldest first. */
  readonly rows: readonly AuditRow[];
  /** As storage has them, oldest first: not yet checked. */
  readonly checkpoints: readonly Checkpoint[];
}

/**
 * Signs a session's chain up to the head of its log, with the refusals that are kept, unless that was done already.
 * Goes on from the newest checkpoint that is genuine, so it costs what came since; and whatever was changed before that
 * one stays a contradiction to it. A log that ends before its checkpoint is not signed.
 */
export async function signChain(context: ChainContext, actor: SessionActor): Promise<Signed> {
  const { storage, key } = context;
  const session = actor.id;
  const { head } = actor;
  const rows = await storage.audit(session, { after: 0, limit: Number.MAX_SAFE_INTEGER });
  const checkpoints = rows.flatMap(checkpointIn);
  const last = newest(checkpoints, session, [key.publicKey, ...context.formerKeys]);
  if (last && last.offset > head) return { ...last, rows, checkpoints };
  let at: ChainHead = last ?? chainStart(session);
  for await (const act of actsOf(
    storage,
    session,
    at,
    last?.offset ?? cursorIn(head, undefined, ""),
    head,
  )) {
    at = { n: act.n, hash: act.hash };
  }
  const kept = keptIn(rows);
  const lost = lostSince(last, rows, kept);
  const refusals = {
    seq: rows.at(-1)?.seq ?? 0,
    count: kept.length,
    hash: linkRefusals(at, kept).at(-1)?.hash ?? at.hash,
    ...(lost.length > 0 && { lost }),
  };
  const signed = { n: at.n, hash: at.hash, offset: head, refusals };
  if (last && isSame(last, signed)) return { ...signed, rows, checkpoints };
  const made = signCheckpoint(key, { kind: "checkpoint", session, ...signed, at: storage.now() });
  // From here on to the call nothing can happen: a session that takes the place of this one has no part in it.
  if (actor.dropped) throw busy();
  await storage.addAudit(session, additions(made, kept, rows));
  return { ...signed, rows, checkpoints: [...checkpoints, made] };
}

/** The acts of a log after `from`, up to `to`, linked to each other, each with what was written. */
export async function* actsOf(
  storage: Storage,
  session: string,
  start: ChainHead,
  from: Offset,
  to: Offset,
): AsyncGenerator<ActLine, void, void> {
  let head = start;
  let cursor = from;
  while (cursor < to) {
    const batches = await storage.entries(session, cursor, READ_BYTES);
    for (const { json, last } of batches) {
      if (!isSameLife(last, to)) throw busy();
      for (const entry of JSON.parse(json) as Entry[]) {
        if (entry.offset <= cursor || entry.offset > to) continue;
        const record = linkAct(head, entry);
        if (!record) continue;
        head = record;
        yield entry.erased
          ? record
          : {
              ...record,
              payload: entry.event,
              ...(entry.salt !== undefined && { salt: entry.salt }),
            };
      }
    }
    const end = batches.at(-1)?.last;
    if (end === undefined) return;
    cursor = end;
  }
}

/** The refusals among a session's audit, as the chain holds them. */
export function keptIn(rows: readonly AuditRow[]): Kept[] {
  return rows.flatMap(({ seq, kind, group, json }) =>
    kind === "late" || kind === "refused"
      ? [{ seq, of: kind, group, digest: sha256(canonical(recordIn(json))) }]
      : [],
  );
}

/** A refusal's record; what cannot be read any more is none, and so not what was signed. */
export function recordIn(json: string): RefusalRecord | null {
  try {
    return JSON.parse(json) as RefusalRecord;
  } catch {
    return null;
  }
}

/** @throws HoldfastError `invalid_request` for a record that the chain does not have */
export function checkRecord(n: number, { n: last }: ChainHead): void {
  if (n <= last) return;
  throw new HoldfastError(reject("invalid_request", `after: the chain has ${last} records.`));
}

/** How much of the log is read at once, in bytes of JSON. */
const READ_BYTES = 1 << 20;

/** How many lost refusals a checkpoint names. */
const MOST_LOST = 64;

function checkpointIn({ kind, json }: AuditRow): Checkpoint[] {
  if (kind !== "checkpoint") return [];
  // What cannot be read is shown as it is, and will be found wrong.
  return [
    (recordIn(json) as unknown as Checkpoint | null) ?? ({ kind, json } as unknown as Checkpoint),
  ];
}

function newest(
  checkpoints: readonly Checkpoint[],
  session: string,
  keys: readonly string[],
): Checkpoint | undefined {
  return checkpoints.findLast((checkpoint) => isGenuine(checkpoint, session, keys));
}

/** Numbers of refusals that are gone without a reason, those that were found before included. */
function lostSince(
  last: Checkpoint | undefined,
  rows: readonly AuditRow[],
  kept: readonly Kept[],
): readonly number[] {
  if (!last) return [];
  const { seq, count, hash, lost = [] } = last.refusals;
  const before = count > 0 ? listIn(rows) : [];
  const isGenuineList = (linkRefusals(last, before).at(-1)?.hash ?? last.hash) === hash;
  const since = rows.filter((row) => row.seq > seq);
  const unseen = Math.max(0, (since.at(-1)?.seq ?? seq) - seq - since.length);
  const now = isGenuineList ? unexplained(before, kept, unseen) : [seq];
  return [...new Set([...lost, ...now])].slice(0, MOST_LOST);
}

function listIn(rows: readonly AuditRow[]): Kept[] {
  const row = rows.findLast(({ kind }) => kind === "list");
  try {
    return JSON.parse(row?.json ?? "[]") as Kept[];
  } catch {
    return [];
  }
}

function isSame(last: Checkpoint, signed: Omit<Signed, "rows" | "checkpoints">): boolean {
  return (
    last.n === signed.n &&
    last.hash === signed.hash &&
    last.refusals.hash === signed.refusals.hash &&
    canonical(last.refusals.lost) === canonical(signed.refusals.lost)
  );
}

/** A checkpoint as storage keeps it, and the list of refusals it speaks of where that is another one than before. */
function additions(
  made: Checkpoint,
  kept: readonly Kept[],
  rows: readonly AuditRow[],
): AuditAddition[] {
  const list = JSON.stringify(kept);
  const isNew = list !== (rows.findLast(({ kind }) => kind === "list")?.json ?? "[]");
  const own = { group: "", content: null };
  return [
    ...(isNew ? [{ kind: "list" as const, json: list, ...own }] : []),
    { kind: "checkpoint" as const, json: JSON.stringify(made), ...own },
  ];
}
