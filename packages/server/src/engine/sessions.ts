import { emptyState, toOffset, type Offset } from "@holdfast/protocol";
import { StorageConflict, type Storage } from "../storage/storage.ts";
import type { ActorContext } from "./actor-context.ts";
import { SessionActor } from "./actor.ts";
import { Deliveries } from "./deliveries.ts";
import { busy, unknownSession } from "./errors.ts";
import type { IdKind } from "./ids.ts";
import { Receipts } from "./receipts.ts";
import { loadSession } from "./rows.ts";

export interface SessionsOptions {
  readonly storage: Storage;
  /** How many sessions stay loaded when nothing happens in them. */
  readonly maxLoaded: number;
  readonly newId: (kind: IdKind) => string;
  readonly context: Omit<ActorContext, "dropped">;
  /** Hears of each session that is gone from storage, before anybody can make it anew. */
  readonly removed: (session: string) => void;
}

/**
 * The sessions that are loaded: at most one actor of each. One that failed is forgotten, and loaded again when it is
 * next asked for.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #context: ActorContext;
  readonly #actors = new Map<string, SessionActor>();
  /**
   * Sessions being loaded, made, deleted or given up: whoever wants one waits for that first, and is alone with it as
   * long as it goes on synchronously.
   */
  readonly #changing = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#context = { ...options.context, dropped: (actor) => this.#forget(actor) };
  }

  /** A session's actor, or undefined for an unknown session. */
  async find(id: string): Promise<SessionActor | undefined> {
    while (this.#changing.has(id)) await this.#changing.get(id);
    const actor = this.#ready(id);
    if (actor) return actor;
    const loading = this.#during(id, () => this.#load(id));
    // Whoever asked first goes on first: it waits as those behind it do.
    await this.#changing.get(id);
    return this.#ready(id) ?? loading;
  }

  /** @throws HoldfastError `unknown_session` */
  async need(id: string): Promise<SessionActor> {
    const actor = await this.find(id);
    if (!actor) throw unknownSession(id);
    return actor;
  }

  /**
   * Calls `make` with the actor of a new session, before anybody else has it, where there is no such session; but first
   * `admit`, which may throw, and then nothing is made.
   */
  async findOrMake(
    id: string,
    { admit, make }: { readonly admit: () => void; readonly make: (actor: SessionActor) => void },
  ): Promise<void> {
    while (this.#changing.has(id)) await this.#changing.get(id);
    if (this.#ready(id)) return;
    await this.#during(id, async () => {
      const found = await this.#load(id);
      if (found) return found;
      admit();
      const made = this.#new(id);
      make(made);
      return made;
    });
  }

  /**
   * Refuses everyone who waits for the session, and removes it from storage.
   *
   * @param at only where nothing was done since this offset
   * @returns whether it was removed
   */
  async remove(id: string, at?: Offset): Promise<boolean> {
    while (this.#changing.has(id)) await this.#changing.get(id);
    const actor = this.#actors.get(id);
    if (at !== undefined && actor?.reached !== at) return false;
    await this.#during(id, async () => {
      actor?.drop(unknownSession(id));
      await actor?.settled();
      await this.#options.storage.delete(id);
      this.#context.leases.delete(id);
      this.#context.audit.forget(id);
      this.#options.removed(id);
      return undefined;
    });
    return true;
  }

  /**
   * Does something on a session's actor, and once more on a fresh one where the first turned out to be of the past:
   * another writer was faster, or it was forgotten in between. Commands that are done again keep their order.
   *
   * @throws HoldfastError `unknown_session`
   */
  async with<T>(id: string, work: (actor: SessionActor) => Promise<T>): Promise<T> {
    try {
      return await work(this.#ready(id) ?? (await this.need(id)));
    } catch (error) {
      if (!isOfThePast(error)) throw error;
      return work(await this.need(id)).catch((again: unknown) => {
        throw isOfThePast(again) ? busy(again) : again;
      });
    }
  }

  /** Loads no more sessions, finishes what is being committed, and refuses everyone after that. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#changing.values());
    const actors = [...this.#actors.values()];
    await Promise.allSettled(actors.map((actor) => actor.drain()));
    for (const actor of actors) actor.drop(busy());
    await Promise.allSettled(actors.map((actor) => actor.settled()));
  }

  #ready(id: string): SessionActor | undefined {
    if (this.#changing.size > 0 && this.#changing.has(id)) return undefined;
    const actor = this.#actors.get(id);
    if (actor) actor.used = true;
    return actor;
  }

  async #load(id: string): Promise<SessionActor | undefined> {
    if (this.#closed) throw busy();
    const loaded = await loadSession(this.#options.storage, id);
    return loaded && this.#keep(new SessionActor(id, loaded, false, this.#context));
  }

  #new(id: string): SessionActor {
    const { newId, storage } = this.#options;
    const epoch = newId("epoch");
    const state = emptyState(toOffset(epoch, 0), { id, createdAt: storage.now() });
    const loaded = {
      state,
      receipts: new Receipts(),
      deliveries: new Deliveries(),
      epoch,
      seq: 0,
    };
    return this.#keep(new SessionActor(id, loaded, true, this.#context));
  }

  #keep(actor: SessionActor): SessionActor {
    this.#actors.set(actor.id, actor);
    this.#makeRoom();
    return actor;
  }

  /** Forgets idle sessions, oldest first; one that was used since it was last looked at here gets a second chance. */
  #makeRoom(): void {
    let looks = this.#actors.size;
    while (this.#actors.size > this.#options.maxLoaded && looks > 0) {
      looks -= 1;
      const [oldest] = this.#actors.values();
      if (!oldest) return;
      this.#actors.delete(oldest.id);
      this.#actors.set(oldest.id, oldest);
      if (oldest.idle && !oldest.used) oldest.drop(new Forgotten());
      else oldest.used = false;
    }
  }

  /** An actor is of no use any more: the next access loads the session, once its last commit has ended. */
  #forget(actor: SessionActor): void {
    if (this.#actors.get(actor.id) !== actor) return;
    this.#actors.delete(actor.id);
    this.#context.leases.release(actor.id);
    if (this.#changing.has(actor.id)) return;
    void this.#during(actor.id, async () => {
      await actor.settled();
      return undefined;
    });
  }

  async #during(
    session: string,
    change: () => Promise<SessionActor | undefined>,
  ): Promise<SessionActor | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changing.set(session, promise);
    try {
      return await change();
    } finally {
      this.#changing.delete(session);
      resolve();
    }
  }
}

/** The actor was dropped to make room; nothing was lost. */
class Forgotten extends Error {}

function isOfThePast(error: unknown): boolean {
  return error instanceof StorageConflict || error instanceof Forgotten;
}
