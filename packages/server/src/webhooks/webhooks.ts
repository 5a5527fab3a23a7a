import { needIn, type Engine } from "../engine/index.ts";
import type { Storage } from "../storage/storage.ts";
import { deliver, type DeliverContext } from "./deliver.ts";
import { Lane } from "./lane.ts";
import { checkTarget, WEBHOOK_DEFAULTS, type Target, type WebhookOptions } from "./options.ts";

export interface WebhooksContext {
  readonly engine: Engine;
  readonly storage: Storage;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

export interface Webhooks {
  /** Tells nobody any more; what is being sent is given up, and sent again when a server starts. */
  close(): Promise<void>;
}

/** What was found to be sound of the operator's word; see {@link checkWebhooks}. */
export interface CheckedWebhooks {
  readonly agents: ReadonlyMap<string, Target>;
  readonly notify: Target | undefined;
  readonly options: WebhookOptions;
}

/** @throws RangeError naming what is wrong */
export function checkWebhooks(options: WebhookOptions): CheckedWebhooks {
  const agents = Object.entries(options.agents ?? {}).map(
    ([agent, target]) => [agent, checkTarget(`Webhook of agent ${agent}`, target)] as const,
  );
  const notify = options.notify && checkTarget("Webhook for notifications", options.notify);
  return { agents: new Map(agents), notify, options };
}

/**
 * Tells the operator's webhooks of work and of calls that wait, at least once each. What is to be told, and how far that
 * came, are rows of the sessions, so that nothing is forgotten over a restart. Each target has places of its own: one
 * that is slow or away delays no other.
 */
export function startWebhooks(
  { agents, notify, options }: CheckedWebhooks,
  { engine, storage, schedule, log }: WebhooksContext,
): Webhooks {
  const terms = { ...WEBHOOK_DEFAULTS, ...options };
  const over = new AbortController();
  const context: DeliverContext = {
    engine,
    terms,
    fetch: options.fetch ?? fetch,
    random: options.random ?? Math.random,
    now: () => storage.now(),
    schedule,
    timeoutMs: terms.timeoutMs,
    signal: over.signal,
  };
  const { presence } = engine;
  const common = { storage, schedule, log, concurrency: terms.concurrency };
  const wakes = new Map<string, Lane>();
  for (const [agent, target] of agents) {
    const deal = (due: Parameters<typeof deliver>[0]) => deliver(due, target, context);
    wakes.set(agent, new Lane({ ...common, kinds: ["wake"], group: agent, deal }));
  }
  const notices =
    notify &&
    new Lane({
      ...common,
      kinds: ["waiting", "escalated"],
      // Somebody who is connected sees that a call waits, and not that it has for too long.
      heldUntil: ({ kind, session, group }) =>
        kind === "waiting" ? presence.absentSince(session, needIn(group)) + terms.absentMs : 0,
      deal: (due) => deliver(due, notify, context),
    });
  const lanes = [...wakes.values(), ...(notices ? [notices] : [])];

  engine.onDue((session, changes) => {
    for (const change of changes) {
      if (change.kind === "wake") wakes.get(change.group)?.heard(session, change);
      else if (change.kind === "waiting" || change.kind === "escalated") {
        notices?.heard(session, change);
      }
    }
  });
  presence.onLeft((session) => notices?.reconsider(session));
  const adopting = adopt([...agents.keys()], { engine, storage }).catch((error: unknown) => {
    if (!over.signal.aborted) log("Runs that wait could not be read", error);
  });
  for (const lane of lanes) lane.look();

  return {
    async close() {
      over.abort();
      await Promise.all([adopting, ...lanes.map((lane) => lane.stop())]);
    },
  };
}

/** Runs that were queued before their agent had a webhook. */
async function adopt(
  agents: readonly string[],
  { engine, storage }: Pick<WebhooksContext, "engine" | "storage">,
): Promise<void> {
  for (const agent of agents) {
    const all = (kind: string) =>
      storage.due({ kinds: [kind], group: agent, before: Number.MAX_SAFE_INTEGER, limit: 1e6 });
    const known = new Set((await all("wake")).map(({ session, id }) => `${session}\n${id}`));
    for (const { session, id } of await all("work")) {
      if (known.has(`${session}\n${id}`)) continue;
      await engine.asServer(session, (_draft, { now }, on) => on.due.rearm("wake", id, now));
    }
  }
}
