import {
  createSession,
  HoldfastError,
  joinDeltas,
  type Actor,
  type Command,
  type Draft,
  type Env,
  type Metadata,
  type Policy,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";
import { sha256 } from "../audit/chain.ts";
import { StorageConflict, type Commit, type DueChange } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { cursorIn } from "./cursor.ts";
import { readDead, redeliver, type DeadPage } from "./dead.ts";
import type { Delivery } from "./deliveries.ts";
import { isTimerKind } from "./due.ts";
import type { EngineOptions } from "./engine-options.ts";
import { busy, unknownSession } from "./errors.ts";
import { finishErasure, finishErasures, type Eraser } from "./erasure.ts";
import { expire } from "./expiry.ts";
import { fireDue } from "./fire.ts";
import { follow, type FollowOptions } from "./follow.ts";
import type { FrameText } from "./frame.ts";
import { randomSalt } from "./ids.ts";
import {
  Inbox,
  type CallPage,
  type CallQuery,
  type InboxNews,
  type MayRead,
  type SeesData,
  type WatchOptions,
} from "./inbox.ts";
import { Leases } from "./leases.ts";
import { requireSmall } from "./limits.ts";
import { listSessions, type SessionPage, type SessionQuery } from "./list.ts";
import { readPage, type Page } from "./page.ts";
import type { Carried, Plan } from "./plan.ts";
import { Presence } from "./presence.ts";
import { commandRates, type CommandRates } from "./command-rates.ts";
import { sessionView, type Resumed, type SessionView } from "./session-view.ts";
import { Sessions } from "./sessions.ts";
import { releasing, Subscribers } from "./subscribers.ts";
import { Timers } from "./timers.ts";
import { Trail } from "./trail.ts";
import { createValidator, type Validator } from "./validate.ts";
import { cursorOf, FULL, snapshotFor, type Snapshot, type Visibility } from "./visibility.ts";
import { WorkQueue, type ClaimOptions, type Work, type WorkClaim } from "./work.ts";

const SERVER: Actor = { principal: "server" };

/**
 * All sessions of one storage. Each is loaded when something is asked of it, and forgotten when there are too many.
 *
 * Every promise resolves after what it reveals is durable. Unknown sessions are `unknown_session`; a commit that
 * fails is `internal`, and the same command may be sent again.
 */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions;
  readonly #sessions: Sessions;
  readonly #timers: Timers;
  readonly #work: WorkQueue;
  readonly #inbox: Inbox;
  readonly #rates: CommandRates;
  readonly #subscribers: Subscribers;
  readonly #listeners = new Set<(session: string, due: readonly DueChange[]) => void>();
  readonly validator: Validator = createValidator();
  readonly trail: Trail;
  readonly presence: Presence;
  #closing: Promise<void> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { storage, schedule, log, limits } = options;
    const now = () => storage.now();
    this.#rates = commandRates(limits, now);
    this.#subscribers = new Subscribers(limits);
    const leases = new Leases();
    this.presence = new Presence(() => storage.now());
    const noteDue = (session: string, due: readonly DueChange[]) => {
      for (const { kind, id, at } of due) {
        if (at !== null && isTimerKind(kind)) this.#timers.note(at);
        if (at === null && (kind === "lease" || kind === "claim")) leases.drop(session, kind, id);
      }
      this.#work.committed(session, due);
      for (const listener of this.#listeners) listener(session, due);
    };
    this.trail = new Trail({ ...options, sessions: () => this.#sessions });
    const context = {
      ...options,
      leases,
      audit: this.trail.audit,
      terms: options,
      salt: randomSalt,
      acted: (session: string, count: number) => this.trail.acted(session, count),
      env: (actor: Actor) => this.#env(actor),
      committed: (session: string, commit: Pick<Commit, "rows" | "due" | "tags">) => {
        noteDue(session, commit.due);
        this.#inbox.committed(session, commit);
      },
      unsure: noteDue,
    };
    const removed = (session: string) => {
      this.#work.deleted(session);
      this.trail.forget(session);
      this.#inbox.removed(session);
    };
    this.#sessions = new Sessions({ ...options, context, removed });
    this.#timers = new Timers({
      storage,
      schedule,
      log,
      fire: async (due) => {
        if (due.kind === "expiry") return expire(this.#sessions, storage, due, SERVER);
        if (due.kind === "unsigned") return this.trail.signNow(due.session);
        if (due.kind === "erasure") return finishErasure(this.#eraser, due.session, due.id);
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
    this.#inbox = new Inbox(storage, options.subscriberBytes);
    this.#timers.start();
  }

  /**
   * Creates a session, or finds it as it is.
   *
   * @throws HoldfastError `too_large`, or `too_many_requests` where its creator made too many
   */
  async create(
    id: string,
    session: {
      readonly agent: string;
      readonly owner?: string;
      readonly metadata?: Metadata;
      readonly policy?: Partial<Policy>;
      readonly ttlMs?: number;
    },
    actor: Actor,
  ): Promise<{ readonly created: boolean; readonly session: SessionView }> {
    requireSmall("The session", session, this.#options.limits.eventBytes);
    let creating: Promise<void> | undefined;
    await this.#sessions.findOrMake(id, {
      admit: () => {
        const refused = this.#rates.sessions.refuse(actor.principal, 1);
        if (refused) throw refused;
      },
      make: (made) => {
        creating = made.act(actor, (draft, env) => createSession(draft, session, env));
      },
    });
    try {
      await creating;
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
      creating = undefined; // another server was faster
    }
    return { created: creating !== undefined, session: await this.session(id) };
  }

  async session(id: string): Promise<SessionView> {
    return this.#sessions.with(id, (actor) => actor.act(SERVER, ({ state }) => sessionView(state)));
  }

  /** Sessions, found by what they are tagged with; see {@link listSessions}. */
  sessions(query: SessionQuery, mayRead: MayRead): Promise<SessionPage> {
    return listSessions(this.#options.storage, query, mayRead);
  }

  /** Removes a session and all that belongs to it; unknown sessions are fine. */
  async delete(id: string): Promise<void> {
    await this.#sessions.remove(id);
  }

  /**
   * Decides commands in order, not atomically, with nothing in between; one verdict each. A refusal is a verdict too;
   * what rejects is an unknown session, a failed commit, or `too_many_requests`: then nothing of it was decided.
   */
  submit(session: string, commands: readonly Command[], actor: Actor): Promise<Verdict[]> {
    const refused = this.#rates.refuse(commands.length, actor);
    if (refused) return Promise.reject(refused);
    const { limits } = this.#options;
    const kept = commands.map((it) => (it.type === "run.append" ? joinDeltas(it, limits) : it));
    const decided = this.#sessions.with(session, (on) => on.submit(kept, actor));
    const isErasing = commands.some(({ type }) => type === "content.erase");
    if (!isErasing) return decided;
    return decided.then((verdicts) => finishErasures(this.#eraser, session, commands, verdicts));
  }

  /**
   * Carries out what `plan` makes of the session's state, all of it or nothing, with nothing in between; durable when it
   * resolves. `plan` is pure: it may be asked again.
   *
   * @param count how many commands it counts for
   * @throws HoldfastError `unknown_session`, or `too_many_requests`
   */
  carryOut(
    session: string,
    plan: (state: SessionState, env: Env) => Plan,
    { actor, count }: { readonly actor: Actor; readonly count: number },
  ): Promise<Carried> {
    const refused = this.#rates.refuse(count, actor);
    if (refused) return Promise.reject(refused);
    return this.#sessions.with(session, (on) => on.carryOut(plan, actor));
  }

  /** The whole state of a session and the offset it holds for, as its reader sees it. */
  async state(session: string, visibility: Visibility = FULL): Promise<Snapshot> {
    const snapshot = await this.#sessions.with(session, (actor) => actor.snapshot());
    return snapshotFor(snapshot, visibility);
  }

  /**
   * At most `limit` entries after a cursor; without one, from the beginning.
   *
   * @throws HoldfastError `invalid_offset`, or `reset` for a cursor that does not lead on
   */
  async page(
    session: string,
    after: string | undefined,
    limit: number,
    visibility: Visibility = FULL,
  ): Promise<Page> {
    const { head, toolOf } = await this.#sessions.need(session);
    const cursor = cursorIn(head, after, visibility.key);
    const range = { after: cursor, head, limit, visibility, toolOf };
    const page = await readPage(this.#options.storage, session, range);
    if (!page) throw busy();
    return page;
  }

  /**
   * Everything after a cursor, then live, as {@link follow} says.
   *
   * @throws HoldfastError `invalid_offset`, `reset` for a cursor that does not lead on, or `too_many_requests` where
   *   there are too many readers
   */
  async subscribe(
    session: string,
    after: string | undefined,
    options: FollowOptions = {},
  ): Promise<AsyncGenerator<readonly FrameText[], void, void>> {
    const actor = await this.#sessions.need(session);
    const cursor = cursorIn(actor.head, after, (options.visibility ?? FULL).key);
    const { person, principal, ...rest } = options;
    const release = this.#subscribers.admit(session, principal);
    rest.signal?.addEventListener("abort", release, { once: true });
    const frames = follow(actor, this.#options.storage, cursor, {
      ...rest,
      ...(person && { join: () => this.presence.join(session, person) }),
    });
    return releasing(frames, release);
  }

  /** Calls that wait for somebody; see {@link Inbox.calls}. */
  calls(query: CallQuery, mayRead: MayRead, seesData?: SeesData): Promise<CallPage> {
    return this.#inbox.calls(query, mayRead, seesData);
  }

  /**
   * The same, and live; see {@link Inbox.watch}.
   *
   * @throws HoldfastError `too_many_requests` where its principal has as many readers as it may have
   */
  watchCalls(
    query: CallQuery,
    mayRead: MayRead,
    options: WatchOptions,
  ): AsyncGenerator<InboxNews, void, void> {
    const { principal, signal } = options;
    const release = this.#subscribers.admit(undefined, principal);
    signal.addEventListener("abort", release, { once: true });
    return releasing(this.#inbox.watch(query, mayRead, options), release);
  }

  /**
   * {@link subscribe}, and where the server cannot bridge the cursor, what follows its state.
   *
   * @throws HoldfastError `invalid_offset`, `unknown_session`
   */
  async resume(
    session: string,
    after: string | undefined,
    options: FollowOptions = {},
  ): Promise<Resumed> {
    try {
      return { frames: await this.subscribe(session, after, options) };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "reset") throw error;
      return this.follow(session, options);
    }
  }

  /** The state, and then what follows it. @throws HoldfastError `unknown_session` */
  async follow(session: string, options: FollowOptions = {}): Promise<Required<Resumed>> {
    const { visibility = FULL } = options;
    const reset = await this.state(session, visibility);
    const after = cursorOf(reset.offset, visibility);
    return { reset, frames: await this.subscribe(session, after, options) };
  }

  /** An attempt for a worker; see {@link WorkQueue.claim}. */
  async claimWork(
    request: WorkClaim,
    actor: Actor,
    options?: ClaimOptions,
  ): Promise<Work | undefined> {
    requireSmall("The list of tools", request.tools, this.#options.limits.eventBytes);
    return this.#work.claim(request, actor, options);
  }

  /** Calls back after every commit that changed index rows, and after a failed one that may have. */
  onDue(listener: (session: string, due: readonly DueChange[]) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Does something to a session in the server's own name; undefined for an unknown session. For what keeps deliveries.
   * The result comes once everything it saw and did is durable.
   */
  asServer<T>(
    session: string,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ): Promise<T | undefined> {
    return this.#act(session, SERVER, work);
  }

  /** What a session's webhooks are told, and how far that came. @throws HoldfastError `unknown_session` */
  deliveries(session: string): Promise<readonly Delivery[]> {
    return this.#sessions.with(session, (on) => on.act(SERVER, () => on.deliveries.values()));
  }

  /** Deliveries that were given up, of all sessions; see {@link readDead}. */
  deadDeliveries(query: { readonly after?: string; readonly limit: number }): Promise<DeadPage> {
    return readDead(this.#options.storage, query);
  }

  /** Has a delivery that was given up tried again; see {@link redeliver}. */
  redeliver(id: string): Promise<boolean> {
    return redeliver({ storage: this.#options.storage, act: this.asServer.bind(this) }, id);
  }

  /** Hands out no more work, fires no more timers, ends all streams and finishes what is being committed. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#work.close();
      this.#inbox.close();
      await this.#timers.stop();
      await this.trail.sign();
      await this.#sessions.close();
      await this.trail.close();
    })();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #env(actor: Actor): Env {
    const { storage, newId, limits } = this.#options;
    const { validate } = this.validator;
    return { now: storage.now(), actor, newId, digest: sha256, validate, limits };
  }

  get #eraser(): Eraser {
    const { audit } = this.trail;
    return { storage: this.#options.storage, audit, act: this.asServer.bind(this) };
  }

  async #act<T>(
    session: string,
    actor: Actor,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ): Promise<T | undefined> {
    if (!(await this.#sessions.find(session))) return undefined;
    return this.#sessions.with(session, (on) =>
      on.act(actor, (draft, env) => work(draft, env, on)),
    );
  }
}
