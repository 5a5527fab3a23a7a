import { hash, randomBytes } from "node:crypto";
import {
  createSession,
  emptyState,
  HoldfastError,
  parseOffset,
  reject,
  toOffset,
  type Actor,
  type Command,
  type Draft,
  type Env,
  type Metadata,
  type Offset,
  type Policy,
  type Verdict,
} from "@holdfast/protocol";
import { StorageConflict, type SessionHead, type Storage } from "../storage/storage.ts";
import { SessionActor, type ActorContext, type Snapshot } from "./actor.ts";
import type { Terms } from "./due.ts";
import { fireDue } from "./fire.ts";
import { follow, type FollowOptions } from "./follow.ts";
import type { FrameText } from "./frame.ts";
import { Leases } from "./leases.ts";
import { readPage, type Page } from "./page.ts";
import { Receipts } from "./receipts.ts";
import { loadSession } from "./rows.ts";
import { Timers } from "./timers.ts";
import { createValidator, type Validator } from "./validate.ts";
import { WorkQueue, type Work, type WorkClaim } from "./work.ts";

export interface EngineOptions extends Terms {
  /** Stays open when the engine closes. */
  readonly storage: Storage;
  readonly coalesceMs: number;
  /** The most frame text that waits for one subscriber, in characters. */
  readonly subscriberBytes: number;
  /** How many sessions stay loaded when nothing happens in them. */
  readonly maxLoaded: number;
  /** Runs something once, later, on the storage's clock; the result takes it back. */
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly newId: (kind: Parameters<Env["newId"]>[0] | "epoch") => string;
  /** Hears of what could not be told to anybody. */
  readonly log: (message: string, error: unknown) => void;
}

/** What a session is apart from its content. */
export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly offset: Offset;
  readonly createdAt: number;
  readonly metadata?: Metadata;
}

const SERVER: Actor = { principal: "server" };

/**
 * All sessions of one storage. Each is loaded when something is asked of it, and forgotten when there are too many.
 *
 * Every promise resolves after what it reveals is durable. Unknown sessions are `unknown_session`; a commit that
 * fails is `internal`, and the same command may be sent again.
 */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions;
  readonly #context: ActorContext;
  readonly #actors = new Map<string, SessionActor>();
  /**
   * Sessions being loaded, created, deleted or given up: whoever wants one waits for that first, and is alone with it
   * as long as it goes on synchronously.
   */
  readonly #changing = new Map<string, Promise<void>>();
  readonly #timers: Timers;
  readonly #work: WorkQueue;
  readonly validator: Validator = createValidator();
  #closed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { storage, schedule, log } = options;
    this.#context = {
      ...options,
      schedule,
      leases: new Leases(),
      terms: options,
      env: (actor) => this.#env(actor),
      committed: (session, due) => {
        for (const { kind, at } of due) if (kind !== "work" && at !== null) this.#timers.note(at);
        this.#work.committed(session, due);
      },
      dropped: (actor) => this.#forget(actor),
    };
    this.#timers = new Timers({
      storage,
      schedule,
      log,
      fire: async (due) => {
        const fired = await this.#act(due.session, SERVER, (draft, env, on) => {
          fireDue(draft, env, on.due, due);
          return true;
        });
        if (!fired) throw unknownSession(due.session);
      },
    });
    this.#work = new WorkQueue({
      storage,
      schedule,
      log,
      act: (session, actor, work) => this.#act(session, actor, work),
    });
    this.#timers.start();
  }

  /** Creates a session, or finds it as it is. */
  async create(
    id: string,
    session: {
      readonly agent: string;
      readonly metadata?: Metadata;
      readonly policy?: Partial<Policy>;
    },
    actor: Actor,
  ): Promise<{ readonly created: boolean; readonly session: SessionView }> {
    let creating: Promise<void> | undefined;
    while (this.#changing.has(id)) await this.#changing.get(id);
    if (!this.#ready(id)) {
      await this.#during(id, async () => {
        const found = await this.#load(id);
        if (found) return found;
        const made = this.#new(id);
        creating = made.act(actor, (draft, env) => createSession(draft, session, env));
        return made;
      });
    }
    try {
      await creating;
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
      creating = undefined; // another server was faster
    }
    return { created: creating !== undefined, session: await this.session(id) };
  }

  async session(id: string): Promise<SessionView> {
    return this.#retry(id, (actor) =>
      actor.act(SERVER, ({ state: { head, session } }) => ({
        id,
        agent: session.agent,
        offset: head,
        createdAt: session.createdAt,
        ...(session.metadata && { metadata: session.metadata }),
      })),
    );
  }

  /** Sessions by id, ascending. */
  sessions(query: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly SessionHead[]> {
    return this.#options.storage.sessions(query);
  }

  /** Removes a session and all that belongs to it; unknown sessions are fine. */
  async delete(id: string): Promise<void> {
    while (this.#changing.has(id)) await this.#changing.get(id);
    const actor = this.#actors.get(id);
    await this.#during(id, async () => {
      actor?.drop(unknownSession(id));
      await actor?.settled();
      await this.#options.storage.delete(id);
      return undefined;
    });
  }

  /**
   * Decides commands in order, not atomically, with nothing in between; one verdict each. A refusal is a verdict too;
   * what rejects is an unknown session or a failed commit.
   */
  submit(session: string, commands: readonly Command[], actor: Actor): Promise<Verdict[]> {
    return this.#retry(session, (on) =>
      Promise.all(commands.map((command) => on.submit(command, actor))),
    );
  }

  /** The whole state of a session and the offset it holds for. */
  state(session: string): Promise<Snapshot> {
    return this.#retry(session, (actor) => actor.snapshot());
  }

  /**
   * At most `limit` entries after a cursor; without one, from the beginning.
   *
   * @throws HoldfastError `invalid_offset`, or `reset` for an offset that this log does not have
   */
  async page(session: string, after: Offset | undefined, limit: number): Promise<Page> {
    const { head } = await this.#need(session);
    const range = { after: cursorIn(head, after), head, limit };
    const page = await readPage(this.#options.storage, session, range);
    if (!page) throw busy(undefined);
    return page;
  }

  /**
   * Everything after a cursor, then live, as {@link follow} says.
   *
   * @throws HoldfastError `invalid_offset`, or `reset` for an offset that this log does not have
   */
  async subscribe(
    session: string,
    after: Offset | undefined,
    options: FollowOptions = {},
  ): Promise<AsyncGenerator<readonly FrameText[], void, void>> {
    const actor = await this.#need(session);
    return follow(actor, this.#options.storage, cursorIn(actor.head, after), options);
  }

  /** An attempt for a worker; see {@link WorkQueue.claim}. */
  claimWork(request: WorkClaim, actor: Actor, signal?: AbortSignal): Promise<Work | undefined> {
    return this.#work.claim(request, actor, signal);
  }

  /** Hands out no more work, fires no more timers, ends all streams and finishes what is being committed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#work.close();
    await this.#timers.stop();
    await Promise.allSettled(this.#changing.values());
    const actors = [...this.#actors.values()];
    await Promise.allSettled(actors.map((actor) => actor.act(SERVER, () => undefined)));
    const closed = new HoldfastError(
      reject("overloaded", "The server is closing: send it again in a moment."),
    );
    for (const actor of actors) actor.drop(closed);
    await Promise.allSettled(actors.map((actor) => actor.settled()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #env(actor: Actor): Env {
    const { storage, newId } = this.#options;
    const { validate } = this.validator;
    return { now: storage.now(), actor, newId, digest, validate };
  }

  async #act<T>(
    session: string,
    actor: Actor,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ): Promise<T | undefined> {
    if (!(await this.#find(session))) return undefined;
    return this.#retry(session, (on) => on.act(actor, (draft, env) => work(draft, env, on)));
  }

  /**
   * Does something on a session's actor, and once more on a fresh one where the first turned out to be of the past:
   * another writer was faster, or it was forgotten in between. Commands that are done again in the same order keep it.
   */
  async #retry<T>(session: string, work: (actor: SessionActor) => Promise<T>): Promise<T> {
    try {
      return await work(this.#ready(session) ?? (await this.#need(session)));
    } catch (error) {
      if (!(error instanceof StorageConflict) && !(error instanceof Forgotten)) throw error;
      return work(await this.#need(session)).catch((again: unknown) => {
        throw again instanceof StorageConflict || again instanceof Forgotten ? busy(again) : again;
      });
    }
  }

  #ready(session: string): SessionActor | undefined {
    if (this.#changing.size > 0 && this.#changing.has(session)) return undefined;
    const actor = this.#actors.get(session);
    if (actor) actor.used = true;
    return actor;
  }

  async #need(session: string): Promise<SessionActor> {
    const actor = await this.#find(session);
    if (!actor) throw unknownSession(session);
    return actor;
  }

  async #find(session: string): Promise<SessionActor | undefined> {
    while (this.#changing.has(session)) await this.#changing.get(session);
    return this.#ready(session) ?? this.#during(session, () => this.#load(session));
  }

  async #load(id: string): Promise<SessionActor | undefined> {
    if (this.#closed) throw busy(undefined);
    const loaded = await loadSession(this.#options.storage, id);
    return loaded && this.#keep(new SessionActor(id, loaded, false, this.#context));
  }

  #new(id: string): SessionActor {
    const epoch = this.#options.newId("epoch");
    const createdAt = this.#options.storage.now();
    const state = emptyState(toOffset(epoch, 0), { id, createdAt });
    const loaded = { state, receipts: new Receipts(), epoch, seq: 0 };
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

/** A new id, unique anywhere: its kind, and 120 random bits. */
export function randomId(kind: Parameters<EngineOptions["newId"]>[0]): string {
  if (kind === "epoch")
    return BigInt(`0x${randomBytes(8).toString("hex")}`)
      .toString(36)
      .padStart(13, "0");
  return `${kind}_${randomBytes(15).toString("base64url")}`;
}

/** The actor was dropped to make room; nothing was lost. */
class Forgotten extends Error {}

function digest(text: string): string {
  return hash("sha256", text, "hex");
}

/** Where to read from in a log with this head. */
function cursorIn(head: Offset, after: Offset | undefined): Offset {
  const at = parseOffset(head);
  const epoch = at?.epoch ?? "";
  if (after === undefined) return toOffset(epoch, 0);
  const cursor = parseOffset(after);
  if (!cursor) {
    throw new HoldfastError(
      reject(
        "invalid_offset",
        `${JSON.stringify(after.slice(0, 64))} is no offset: use one that the server gave, or none.`,
      ),
    );
  }
  if (cursor.epoch === epoch && after <= head) return after;
  throw new HoldfastError(
    reject(
      "reset",
      `Offset ${after} is not in this session's log: read its state and go on from there.`,
      { offset: head },
    ),
  );
}

function unknownSession(id: string): HoldfastError {
  return new HoldfastError(
    reject(
      "unknown_session",
      `There is no session ${JSON.stringify(id)}: create it with PUT /v1/sessions/${encodeURIComponent(id)}.`,
    ),
  );
}

function busy(cause: unknown): HoldfastError {
  return new HoldfastError(
    reject("overloaded", "The session changes hands: send the same again in a moment."),
    { cause },
  );
}
