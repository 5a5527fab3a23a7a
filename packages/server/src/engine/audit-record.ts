import { sha256 } from "../audit/chain.ts";
import type { AuditDropped, AuditRefusal } from "@holdfast/protocol";
import type { AuditAddition, AuditRow, RefusalKind } from "../storage/storage.ts";
import type { Refusal } from "./refusal.ts";

/** How much of a late answer is kept, in characters of JSON. */
const MAX_CONTENT = 4096;

/** How storage keeps a refusal with others of its kind. */
export function kindOf({ late }: Refusal): RefusalKind {
  return late ? "late" : "refused";
}

/**
 * A refusal as storage keeps it. Costs as much as what was sent is long.
 *
 * @param salt random: goes with a late answer, and into its digest, which so tells nothing once both are erased
 */
export function recordOf(refusal: Refusal, salt: string): AuditAddition {
  const { at, actor, command, code, offset, item, callId, runId, winner, late } = refusal;
  const { id, ...body } = command;
  // Not canonical, which takes ten times as long: a refused append of 1 MiB would hold up everybody.
  const text = JSON.stringify(late?.answer ?? item?.body ?? body);
  const content = late ? text.slice(0, MAX_CONTENT).toWellFormed() : undefined;
  const isCut = late !== undefined && content !== text;
  const salted = (said: string) => (late ? `${salt}\n${said}` : said);
  const record: Unnumbered<AuditRefusal> = {
    type: late ? "late_answer" : "refused",
    at,
    actor: actor.principal,
    ...(actor.attempt && { attempt: actor.attempt }),
    ...(offset !== undefined && { offset }),
    command: { id, type: command.type, ...(item && { item: item.index }) },
    ...(callId !== undefined && { callId }),
    ...(runId !== undefined && { runId }),
    code,
    ...(winner && { winner }),
    ...(late && { outcome: late.outcome }),
    payload: {
      digest: sha256(salted(text)),
      bytes: Buffer.byteLength(text),
      ...(isCut && {
        truncated: true as const,
        kept: sha256(salted(content ?? "")),
      }),
    },
  };
  const group = ((late && callId) ?? actor.principal).toWellFormed();
  return {
    kind: kindOf(refusal),
    group,
    json: JSON.stringify(record),
    // Of a call that is erased nothing is kept, as if this had come before.
    content: content === undefined || refusal.isErased ? null : salted(content),
  };
}

/** What is kept of a late answer, and its salt; nothing where there was none, or it is erased. */
export function contentOf({ content }: Pick<AuditRow, "content">): {
  readonly content?: string;
  readonly salt?: string;
} {
  if (content === null) return {};
  const end = content.indexOf("\n");
  return { salt: content.slice(0, end), content: content.slice(end + 1) };
}

/** A count of refusals that were not kept, as storage keeps it. */
export function droppedRecord({ kind, ...dropped }: Dropped): AuditAddition {
  const record: Unnumbered<AuditDropped> = {
    type: "dropped",
    what: kind === "late" ? "late_answer" : "refused",
    ...dropped,
  };
  const group = dropped.actor.toWellFormed();
  return { kind: "refused", group, json: JSON.stringify(record), content: null };
}

/** How many refusals of an actor were not kept, and when. */
export interface Dropped extends Pick<AuditDropped, "actor" | "count" | "since" | "at"> {
  readonly kind: RefusalKind;
}

/** Storage numbers a record and keeps what was sent apart. */
type Unnumbered<T> = Omit<T, "seq" | "content">;
