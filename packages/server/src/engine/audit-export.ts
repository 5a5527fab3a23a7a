import { canonical } from "@holdfast/protocol";
import { chainStart, linkRefusals, type ChainHead } from "../audit/chain.ts";
import { signCheckpoint, type Checkpoint } from "../audit/checkpoint.ts";
import type { AuditLine } from "../audit/verify.ts";
import type { Offset } from "@holdfast/protocol";
import { contentOf } from "./audit-record.ts";
import { actsOf, checkRecord, keptIn, recordIn, type ChainContext, type Signed } from "./chain.ts";
import { cursorIn } from "./cursor.ts";

/**
 * The lines of a session's audit, as {@link verifyAudit} checks them: the acts after record `after` with the checkpoints
 * made between them, the refusals that are kept, and a signed end. What comes after `signed` is not in it. Computed from
 * the log as it is, from its beginning; where that is not what was signed, the export is made all the same, and
 * contradicts itself.
 *
 * @throws HoldfastError `invalid_request` for an `after` beyond the last record
 */
export async function* exportLines(
  { storage, key }: ChainContext,
  session: string,
  signed: Signed,
  after: number,
): AsyncGenerator<string, void, void> {
  checkRecord(after, signed);
  const { offset, rows } = signed;
  const checkpoints = signed.checkpoints.filter(({ n }) => after === 0 || !(n <= after));
  let told = 0;
  const upTo = function* (n: number) {
    for (; told < checkpoints.length; told += 1) {
      const next = checkpoints[told];
      if (!next || next.n > n) return;
      yield lineOf(next);
    }
  };
  let head: ChainHead = chainStart(session);
  if (after === 0) yield headerOf(session, head);
  for await (const act of actsOf(storage, session, head, beginningOf(offset), offset)) {
    head = { n: act.n, hash: act.hash };
    if (act.n < after) continue;
    if (act.n === after) yield headerOf(session, head);
    else yield lineOf(act);
    yield* upTo(act.n);
  }
  yield* upTo(Number.POSITIVE_INFINITY);
  yield* refusalLines(rows, head);
  const { n, hash, refusals } = signed;
  yield lineOf(
    signCheckpoint(key, {
      kind: "end",
      session,
      n,
      hash,
      offset,
      refusals,
      at: storage.now(),
      checkpoints: told,
    }),
  );
}

function headerOf(session: string, { n, hash }: ChainHead): string {
  return lineOf({ kind: "session", format: 1, session, after: { n, hash } });
}

function* refusalLines(rows: Signed["rows"], head: ChainHead): Generator<string, void, void> {
  const links = new Map(linkRefusals(head, keptIn(rows)).map((link) => [link.seq, link]));
  for (const row of rows) {
    const link = links.get(row.seq);
    const record = recordIn(row.json);
    if (link && record) yield lineOf({ ...link, record, ...contentOf(row) });
  }
}

function beginningOf(offset: Offset): Offset {
  return cursorIn(offset, undefined, "");
}

/** One text for one value: whoever changes a byte changes the value. */
function lineOf(line: AuditLine | Checkpoint): string {
  return canonical(line);
}
