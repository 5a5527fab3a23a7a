import { hash } from "node:crypto";
import {
  createSession,
  HoldfastError,
  type Actor,
  type Command,
  type Draft,
  type Env,
  type Metadata,
  type Offset,
  type Policy,
  type Verdict,
} from "@holdfast/protocol";
import {
  StorageConflict,
  type DueChange,
  type SessionHead,
  type Storage,
} from "../storage/storage.ts";
import type { SessionActor, Snapshot } from "./actor.ts";
import { cursorIn } from "./cursor.ts";
import type { Terms } from "./due.ts";
import { busy, unknownSession } from "./errors.ts";
import { fireDue } from "./fire.ts";
import { follow, type FollowOptions } from "./follow.ts";
import type { FrameText } from "./frame.ts";
import type { IdKind } from "./ids.ts";
import { Leases } from "./leases.ts";
import { readPage, type Page } from "./page.ts";
import { Sessions } from "./sessions.ts";
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
  readonly newId: (kind: IdKind) => string;
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

/** What a reader gets. */
export interface Resumed {
  /** To begin with, where the reader had nothing that leads on. */
  readonly reset?: Snapshot;
  readonly frames: AsyncGenerator<readonly FrameText[], void, void>;
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
  readonly #sessions: Sessions;
  readonly #timers: Timers;
  readonly #work: WorkQueue;
  readonly validator: Validator = createValidator();
  #closing: Promise<void> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { storage, schedule, log } = options;
    const leases = new Leases();
    const context = {
      ...options,
      leases,
      terms: options,
      env: (actor: Actor) => this.#env(actor),
      committed: (session: string, due: readonly DueChange[]) => {
        for (const { kind, id, at } of due) {
          if (at !== null && kind !== "work") this.#timers.note(at);
          if (at === null && (kind === "lease" || kind === "claim")) leases.drop(session, kind, id);
        }
        this.#work.committed(session, due);
      },
    };
    this.#sessions = new Sessions({ ...options, context });
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
    await this.#sessions.findOrMake(id, (made) => {
      creating = made.act(actor, (draft, env) => createSession(draft, session, env));
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
    return this.#sessions.with(id, (actor) =>
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
  delete(id: string): Promise<void> {
    return this.#sessions.remove(id);
  }

  /**
   * Decides commands in order, not atomically, with nothing in between; one verdict each. A refusal is a verdict too;
   * what rejects is an unknown session or a failed commit.
   */
  submit(session: string, commands: readonly Command[], actor: Actor): Promise<Verdict[]> {
    return this.#sessions.with(session, (on) => on.submit(commands, actor));
  }

  /** The whole state of a session and the offset it holds for. */
  state(session: string): Promise<Snapshot> {
    return this.#sessions.with(session, (actor) => actor.snapshot());
  }

  /**
   * At most `limit` entries after a cursor; without one, from the beginning.
   *
   * @throws HoldfastError `invalid_offset`, or `reset` for an offset that this log does not have
   */
  async page(session: string, after: Offset | undefined, limit: number): Promise<Page> {
    const { head } = await this.#sessions.need(session);
    const range = { after: cursorIn(head, after), head, limit };
    const page = await readPage(this.#options.storage, session, range);
    if (!page) throw busy();
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
    const actor = await this.#sessions.need(session);
    return follow(actor, this.#options.storage, cursorIn(actor.head, after), options);
  }

  /**
   * {@link subscribe}, and where the server cannot bridge the cursor, what follows its state.
   *
   * @throws HoldfastError `invalid_offset`, `unknown_session`
   */
  async resume(
    session: string,
    after: Offset | undefined,
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
    const reset = await this.state(session);
    return { reset, frames: await this.subscribe(session, reset.offset, options) };
  }

  /** An attempt for a worker; see {@link WorkQueue.claim}. */
  claimWork(request: WorkClaim, actor: Actor, signal?: AbortSignal): Promise<Work | undefined> {
    return this.#work.claim(request, actor, signal);
  }

  /** Hands out no more work, fires no more timers, ends all streams and finishes what is being committed. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#work.close();
      await this.#timers.stop();
      await this.#sessions.close();
    })();
    return this.#closing;
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
    if (!(await this.#sessions.find(session))) return undefined;
    return this.#sessions.with(session, (on) =>
      on.act(actor, (draft, env) => work(draft, env, on)),
    );
  }
}

function digest(text: string): string {
  return hash("sha256", text, "hex");
}
