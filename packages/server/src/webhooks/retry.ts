import type { Delivery } from "../engine/index.ts";
import type { DeliveryTerms } from "./options.ts";
import type { Outcome } from "./post.ts";

/**
 * A delivery after one more try. What failed is tried again after a random part of a wait that doubles each time, and
 * not before the receiver asked for it; a wake-up that was accepted, once its attempt should have begun. In the end it
 * is dead.
 *
 * @param random in [0, 1)
 */
export function afterTry(
  delivery: Delivery,
  outcome: Outcome,
  { now, random, terms }: { now: number; random: number; terms: DeliveryTerms },
): Delivery {
  const { kind, about, id, since, error } = delivery;
  const tries = delivery.tries + 1;
  const tried = { kind, about, id, since, tries };
  const doubled = terms.baseMs * 2 ** Math.min(tries - 1, 40);
  const backoffMs = Math.ceil(random * Math.min(terms.maxMs, doubled));
  if (outcome.type === "accepted") {
    const kept = {
      ...tried,
      status: "accepted",
      at: now,
      ...(error !== undefined && { error }),
    } as const;
    if (kind !== "wake") return kept;
    return { ...kept, nextAt: now + Math.max(terms.startWithinMs, backoffMs) };
  }
  const failed = { ...tried, error: outcome.error };
  // However long it asks for, there is a last try when the time is over.
  const nextAt = Math.min(
    now + Math.max(backoffMs, outcome.retryAfterMs ?? 0),
    since + terms.maxAgeMs,
  );
  const isDead = outcome.final || isSpent(failed, now, terms);
  return isDead ? { ...failed, status: "dead", at: now } : { ...failed, status: "pending", nextAt };
}

/** Whether a delivery has had all its tries, or its time is over. */
export function isSpent(
  { tries, since }: Pick<Delivery, "tries" | "since">,
  now: number,
  { maxTries, maxAgeMs }: DeliveryTerms,
): boolean {
  return tries >= maxTries || now >= since + maxAgeMs;
}
