import type { Delivery, DeliveryKind, Engine, SessionActor } from "../engine/index.ts";
import type { Due } from "../storage/storage.ts";
import { eventOf } from "./event.ts";
import type { DeliveryTerms, Target } from "./options.ts";
import { post, type PostOptions } from "./post.ts";
import { afterTry, isSpent } from "./retry.ts";

export interface DeliverContext extends PostOptions {
  readonly engine: Engine;
  readonly terms: DeliveryTerms;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * Tries what an index row asks for once, if it still matters. Afterwards the row is gone or lies in the future, and what
 * came of the try is kept with the session. Where the server ends in between, it is tried again under the same id.
 */
export async function deliver(due: Due, target: Target, context: DeliverContext): Promise<void> {
  const { engine, terms } = context;
  const { session, id: about, group } = due;
  const kind = due.kind as DeliveryKind; // what the lane asked for
  const plan = await engine.asServer(session, ({ state }, { now }, on) => {
    const told = eventOf(session, state, kind, about);
    if (!told || !on.due.get(kind, about)) {
      on.due.remove(kind, about, group);
      return undefined;
    }
    const known = on.deliveries.get(kind, about);
    const begun = known?.id === told.id ? known : undefined;
    if (begun && (begun.nextAt === undefined || begun.nextAt > now)) {
      arm(on, begun);
      return undefined;
    }
    if (begun && isSpent(begun, now, terms)) {
      keep(on, neverStarted(begun, now));
      return undefined;
    }
    const first: Delivery = { kind, about, id: told.id, status: "pending", tries: 0, since: now };
    return { delivery: begun ?? first, body: JSON.stringify(told.event) };
  });
  if (!plan) return;
  const { delivery, body } = plan;
  const outcome = await post(target, { id: delivery.id, body }, context);
  await engine.asServer(session, ({ state }, { now }, on) => {
    // Somebody took it up meanwhile, or it ended.
    if (eventOf(session, state, kind, about)?.id !== delivery.id) return;
    keep(on, afterTry(delivery, outcome, { now, random: context.random(), terms }));
  });
}

/** A wake-up whose last try fails is dead with that; this one's was accepted. */
function neverStarted({ nextAt: _, ...delivery }: Delivery, now: number): Delivery {
  return { ...delivery, status: "dead", at: now, error: "accepted, and no attempt was begun" };
}

function keep(on: SessionActor, delivery: Delivery): void {
  on.deliveries.put(delivery);
  arm(on, delivery);
}

function arm(on: SessionActor, { kind, about, nextAt }: Delivery): void {
  if (nextAt === undefined) on.due.retire(kind, about);
  else on.due.rearm(kind, about, nextAt);
}
