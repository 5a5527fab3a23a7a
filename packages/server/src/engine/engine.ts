import { hash } from "node:crypto";
import {
  createSession,
  type Actor,
  type Command,
  type Draft,
  type Env,
  type Metadata,
  type Offset,
  type Policy,
  type Rejection,
  type Verdict,
} from "@holdfast/protocol";
import {
  StorageConflict,
  type AuditRow,
  type Commit,
  type DueChange,
  type Storage,
} from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { Audit } from "./audit.ts";
import { cursorIn } from "./cursor.ts";
import type { Terms } from "./due.ts";
import { busy, unknownSession } from "./errors.ts";
import { fireDue } from "./fire.ts";
import { follow, type FollowOptions } from "./follow.ts";
import type { FrameText } from "./frame.ts";
import type { IdKind } from "./ids.ts";
import {
  Inbox,
  type CallPage,
  type CallQuery,
  type InboxNews,
  type MayRead,
  type SeesData,
} from "./inbox.ts";
import { Leases } from "./leases.ts";
import { listSessions, type SessionPage, type SessionQuery } from "./list.ts";
import { readPage, type Page } from "./page.ts";
import { Sessions } from "./sessions.ts";
import { Timers } from "./timers.ts";
import { createValidator, type Validator } from "./validate.ts";
import { FULL, snapshotFor, type Snapshot, type Visibility } from "./visibility.ts";
import { WorkQueue, type ClaimOptions, type Work, type WorkClaim } from "./work.ts";

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
  /** The principal whose it is. */
  readonly owner?: string;
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
  readonly #sessions: Sessions;
  readonly #timers: Timers;
  readonly #work: WorkQueue;
  readonly #inbox: Inbox;
  readonly #audit: Audit;
  readonly validator: Validator = createValidator();
  #closing: Promise<void> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { storage, schedule, log } = options;
    const leases = new Leases();
    const noteDue = (session: string, due: readonly DueChange[]) => {
      for (const { kind, id, at } of due) {
        if (at !== null && kind !== "work") this.#timers.note(at);
        if (at === null && (kind === "lease" || kind === "claim")) leases.drop(session, kind, id);
      }
      this.#work.committed(session, due);
    };
    const audit = new Audit({ storage, schedule, log });
    this.#audit = audit;
    const context = {
      ...options,
      leases,
      audit,
      terms: options,
      env: (actor: Actor) => this.#env(actor),
      committed: (session: string, commit: Pick<Commit, "rows" | "due" | "tags">) => {
        noteDue(session, commit.due);
        this.#inbox.committed(session, commit);
      },
      unsure: noteDue,
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
    this.#inbox = new Inbox(storage);
    this.#timers.start();
  }

  /** Creates a session, or finds it as it is. */
  async create(
    id: string,
    session: {
      readonly agent: string;
      readonly owner?: string;
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
        ...(session.owner !== undefined && { owner: session.owner }),
        ...(session.metadata && { metadata: session.metadata }),
      })),
    );
  }

  /** Sessions, found by what they are tagged with; see {@link listSessions}. */
  sessions(query: SessionQuery, mayRead: MayRead): Promise<SessionPage> {
    return listSessions(this.#options.storage, query, mayRead);
  }

  /** Removes a session and all that belongs to it; unknown sessions are fine. */
  async delete(id: string): Promise<void> {
    await this.#sessions.remove(id);
    this.#work.deleted(id);
  }

  /**
   * Decides commands in order, not atomically, with nothing in between; one verdict each. A refusal is a verdict too;
   * what rejects is an unknown session or a failed commit.
   */
  submit(session: string, commands: readonly Command[], actor: Actor): Promise<Verdict[]> {
    return this.#sessions.with(session, (on) => on.submit(commands, actor));
  }

  /** Takes note of a command that its sender may not give, so that it never came to be decided. */
  noteRefusal(session: string, command: Command, actor: Actor, { code }: Rejection): void {
    const at = this.#options.storage.now();
    this.#audit.note(session, [{ at, actor, command, code }]);
  }

  /** What is kept of a session's refusals above the number `after`, oldest first, those just given included. */
  async audit(
    session: string,
    query: { readonly after: number; readonly limit: number },
  ): Promise<readonly AuditRow[]> {
    await this.#sessions.need(session);
    await this.#audit.flush();
    return this.#options.storage.audit(session, query);
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
   * @throws HoldfastError `invalid_offset`, or `reset` for a cursor that does not lead on
   */
  async subscribe(
    session: string,
    after: string | undefined,
    options: FollowOptions = {},
  ): Promise<AsyncGenerator<readonly FrameText[], void, void>> {
    const actor = await this.#sessions.need(session);
    const cursor = cursorIn(actor.head, after, (options.visibility ?? FULL).key);
    return follow(actor, this.#options.storage, cursor, options);
  }

  /** Calls that wait for somebody; see {@link Inbox.calls}. */
  calls(query: CallQuery, mayRead: MayRead, seesData?: SeesData): Promise<CallPage> {
    return this.#inbox.calls(query, mayRead, seesData);
  }

  /** The same, and live; see {@link Inbox.watch}. */
  watchCalls(
    query: CallQuery,
    mayRead: MayRead,
    signal: AbortSignal,
    seesData?: SeesData,
  ): AsyncGenerator<InboxNews, void, void> {
    return this.#inbox.watch(query, mayRead, signal, seesData);
  }

  /** An attempt for a worker; see {@link WorkQueue.claim}. */
  claimWork(request: WorkClaim, actor: Actor, options?: ClaimOptions): Promise<Work | undefined> {
    return this.#work.claim(request, actor, options);
  }

  /** Hands out no more work, fires no more timers, ends all streams and finishes what is being committed. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#work.close();
      this.#inbox.close();
      await this.#timers.stop();
      await this.#sessions.close();
      await this.#audit.close();
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
