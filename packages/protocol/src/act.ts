import { canonical } from "./canonical.ts";
import type { Entry, Scope } from "./entry.ts";
import type { Event, EventOf } from "./events.ts";

/** What an entry says that somebody did, without what they wrote (SPEC 6.13). Erasing the entry's content leaves it as it is. */
export interface Act {
  readonly what: Event["type"];
  /** Where in a run it belongs, and what it is about. */
  readonly ids: Scope & Readonly<Record<string, string | number>>;
  /** What was chosen, where the choice is from a closed set. */
  readonly facts?: Readonly<Record<string, string | boolean>>;
}

/** The act that an entry records, or undefined for one that records none. */
export function actOf(entry: Entry): Act | undefined {
  const kept = keptOf(entry.event);
  if (!kept) return undefined;
  const { runId, attempt, round, stepId, stepAttempt } = entry;
  const facts = present(kept.facts ?? {});
  return {
    what: entry.event.type,
    ids: present({ runId, attempt, round, stepId, stepAttempt, ...kept.ids }),
    ...(Object.keys(facts).length > 0 && { facts }),
  };
}

/** Whether an entry with this event records an act. Costs one look for a delta. */
export function isAct(event: Event): boolean {
  return keptOf(event) !== undefined;
}

/**
 * The digest of what an entry says, which its session's chain holds: of its salt and the canonical JSON of its event, or
 * the one that its erasure left.
 *
 * @param digest SHA-256, hex, of the UTF-8 text
 */
export function payloadDigest(entry: Entry, digest: (text: string) => string): string {
  return entry.erased?.digest ?? digest(payloadText(entry));
}

/** The text that a payload's digest is of. */
export function payloadText({ salt, event }: Pick<Entry, "salt" | "event">): string {
  return `${salt ?? ""}\n${canonical(event)}`;
}

/**
 * The entry without what is erased: its salt goes, and the digest of what it said stays.
 *
 * @param event what is left of the event: ids and closed choices as they were, so that {@link actOf} says the same
 */
export function erase(entry: Entry, event: Event, digest: (text: string) => string): Entry {
  const { salt: _, ...rest } = entry;
  return { ...rest, event, erased: { digest: payloadDigest(entry, digest) } };
}

interface Kept {
  readonly ids: Readonly<Record<string, string | undefined>>;
  readonly facts?: Readonly<Record<string, string | boolean | undefined>>;
}

/** What stays of an act's event. A type that is not here is no act. */
const KEPT: { readonly [T in Event["type"]]?: (event: EventOf<T>) => Kept | undefined } = {
  "session.created": () => ({ ids: {} }),
  "session.updated": () => ({ ids: {} }),
  "session.closed": () => ({ ids: {} }),
  "content.erased": ({ callId, messageId, runId }) => ({ ids: { callId, messageId, runId } }),
  "policy.set": () => ({ ids: {} }),
  "tools.advertised": () => ({ ids: {} }),
  "approval.granted": ({ tool, callId }) => ({ ids: { tool, callId } }),
  "approval.revoked": ({ tool }) => ({ ids: { tool } }),
  "message.added": ({ messageId, parentId, steers }) => ({ ids: { messageId, parentId, steers } }),
  "run.ended": ({ outcome }) =>
    outcome === "cancelled" ? { ids: {}, facts: { outcome } } : undefined,
  "call.decided": ({ callId, approvalId, approved, automatic, onBehalfOf }) => ({
    ids: { callId, approvalId },
    facts: { approved, automatic, onBehalfOf },
  }),
  // An implicit claim is nobody's doing: the call's agent never claims.
  "call.claimed": ({ callId, claimId, implicit, forced }) =>
    implicit ? undefined : { ids: { callId, claimId }, facts: { forced } },
  "call.released": ({ callId, claimId, reason }) =>
    reason === "released" ? { ids: { callId, claimId } } : undefined,
  "call.answered": answered,
  "call.answer_replaced": answered,
  "call.settled": ({ callId, outcome, reason }) =>
    reason === "cancelled" ? { ids: { callId }, facts: { outcome } } : undefined,
};

function answered(event: EventOf<"call.answered" | "call.answer_replaced">): Kept {
  const { callId, messageId, outcome, reason } = event;
  return { ids: { callId, messageId }, facts: { outcome, reason } };
}

function keptOf(event: Event): Kept | undefined {
  // The table says which event each type has, which the compiler does not follow.
  const kept = KEPT[event.type] as ((event: Event) => Kept | undefined) | undefined;
  return kept?.(event);
}

type Present<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

function present<T extends object>(members: T): Present<T> {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Present<T>;
}
