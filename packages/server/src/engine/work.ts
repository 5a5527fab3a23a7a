import {
  decideTimer,
  HoldfastError,
  reject,
  startRun,
  type Actor,
  type Draft,
  type Env,
  type Offset,
  type Rejection,
  type ToolDeclaration,
} from "@holdfast/protocol";
import type { Due, DueChange, Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { leaseGroup } from "./due.ts";
import { unknownSession } from "./errors.ts";
import { Holders } from "./holders.ts";
import { Waiters } from "./waiters.ts";

/** What a worker asks with. */
export interface WorkClaim {
  readonly agent: string;
  readonly worker: string;
  /** Names the process under the worker's name. Attempts that another process holds are taken over. */
  readonly instance?: string;
  /** Asks for the attempt that was started with it, again, and for no other; takes nothing over, waits for nothing. */
  readonly wakeId?: string;
  /** With the wake id it waits for: this run and no other, at once or not at all. */
  readonly run?: { readonly session: string; readonly runId: string };
  readonly waitMs?: number;
  readonly claims?: boolean;
  readonly tools?: readonly ToolDeclaration[];
  readonly complete?: boolean;
}

export interface ClaimOptions {
  /** Ends the wait. An attempt that was just granted goes to the next. */
  readonly signal?: AbortSignal;
  /** The sessions that work may be of. Default: all. */
  readonly may?: (session: string) => boolean;
}

/** An attempt a worker holds from now on. */
export interface Work {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly wakeId: string;
  /** The session's head when the attempt was durable. */
  readonly offset: Offset;
}

export interface WorkContext {
  readonly storage: Storage;
  /** Runs something on a session's actor; undefined for an unknown session. */
  act<T>(
    session: string,
    actor: Actor,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ): Promise<T | undefined>;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

/** Ready runs looked at together. */
const LOOK = 16;

/**
 * Hands runs to workers. A run is ready when it is queued with a wake id; which runs are, storage knows, so that
 * nothing is forgotten over a restart. Claiming is compare-and-set in the session itself, so that two workers never
 * get the same attempt, whatever this class believes.
 */
export class WorkQueue {
  readonly #context: WorkContext;
  readonly #waiters: Waiters;
  /** Runs that somebody is just trying to start. */
  readonly #taking = new Set<string>();
  readonly #holders = new Holders();

  #closed = false;

  constructor(context: WorkContext) {
    this.#context = context;
    this.#waiters = new Waiters(context.schedule);
  }

  /**
   * One attempt for this worker, as soon as there is one, or undefined after `waitMs`, when `signal` says so, or when
   * the server closes.
   *
   * Without a wake id, the worker's own attempts that no process of this `instance` holds are ended as lost first
   * (all of them where no instance is named), so that a restarted worker has its runs back at once.
   *
   * @throws HoldfastError `run_held` for a wake id under which this worker has no attempt
   */
  async claim(
    request: WorkClaim,
    actor: Actor,
    { signal, may = anywhere }: ClaimOptions = {},
  ): Promise<Work | undefined> {
    if (request.run) return this.#takeNamed(request, request.run, actor, may);
    const again = await this.#ownAttempts(request, actor, may);
    if (request.wakeId !== undefined) return again ?? refuseWake(request, request.wakeId);
    const place = this.#waiters.join(request.agent, request.waitMs ?? 0, may, signal);
    let work: Work | undefined;
    try {
      for (;;) {
        work = await this.#takeReady(request, actor, { may, ...(signal && { signal }) });
        if (work || !(await place.called())) return work;
      }
    } finally {
      place.leave(work?.session);
    }
  }

  /** The attempt of one run, begun with the wake id or begun with it before by the same worker. */
  async #takeNamed(
    request: WorkClaim,
    { session, runId }: NonNullable<WorkClaim["run"]>,
    actor: Actor,
    may: (session: string) => boolean,
  ): Promise<Work> {
    if (!may(session)) throw unknownSession(session);
    const ruling = await this.#context.act(session, actor, (draft, env) => {
      const run = draft.state.runs.get(runId);
      if (run?.agent !== request.agent) return unknownRun(request.agent, runId);
      const wakeId = request.wakeId ?? "";
      return this.#startNow(draft, env, { session, runId, wakeId }, request);
    });
    if (!ruling) throw unknownSession(session);
    if ("code" in ruling) throw new HoldfastError(ruling);
    return ruling;
  }

  /** Hears of every commit: a run that became ready wakes one worker. */
  committed(session: string, due: readonly DueChange[]): void {
    for (const { kind, id, group, at } of due) {
      if (kind === "work" && at !== null) this.#waiters.call(group, session);
      if (kind === "lease" && at === null) this.#holders.drop(session, id);
    }
  }

  /** The session is gone, and who held anything of it. */
  deleted(session: string): void {
    this.#holders.delete(session);
  }

  /** Sends all waiting workers away; there is no more work. */
  close(): void {
    this.#closed = true;
    this.#waiters.close();
  }

  /** The attempt of the request's wake id; otherwise ends what a former process of this worker left. */
  async #ownAttempts(
    request: WorkClaim,
    actor: Actor,
    may: (session: string) => boolean,
  ): Promise<Work | undefined> {
    const { agent, worker, wakeId } = request;
    const held = await this.#context.storage.due({
      kinds: ["lease"],
      group: leaseGroup(agent, worker),
      before: Number.MAX_SAFE_INTEGER,
      limit: 1000,
    });
    for (const { session, id } of held) {
      if (!may(session)) continue;
      const work = await this.#context.act(session, actor, (draft, env, on) => {
        const run = draft.state.runs.get(id);
        if (run?.status !== "active" || run.worker !== worker) return undefined;
        const { attempt, startedBy } = run;
        if (wakeId !== undefined) {
          if (startedBy !== wakeId) return undefined;
          on.due.renewAttempt(draft.state, id, attempt, env.now);
          return { session, runId: id, attempt, wakeId, offset: draft.state.head };
        }
        // One that is held without a process is nobody's to take over.
        if ((run.heldUntil ?? 0) > env.now) return undefined;
        if (!this.#isOurs(request, session, id, attempt)) {
          decideTimer(
            draft,
            { type: "lease", runId: id, attempt, reason: "worker_restarted" },
            env,
          );
        }
        return undefined;
      });
      if (work) return work;
    }
    return undefined;
  }

  /** Whether the process that asks holds the attempt, or may: a process that was not seen before the restart. */
  #isOurs({ instance }: WorkClaim, session: string, runId: string, attempt: number): boolean {
    if (instance === undefined) return false;
    const known = this.#holders.get(session, runId);
    return known?.attempt !== attempt || known.instance === instance;
  }

  async #takeReady(
    request: WorkClaim,
    actor: Actor,
    { signal, may = anywhere }: ClaimOptions,
  ): Promise<Work | undefined> {
    for (let limit = LOOK; ; limit *= 4) {
      const ready = await this.#context.storage.due({
        kinds: ["work"],
        group: request.agent,
        before: Number.MAX_SAFE_INTEGER,
        limit,
      });
      for (const due of ready) {
        if (this.#closed || signal?.aborted) return undefined;
        if (!may(due.session)) continue;
        const work = await this.#tryStart(due, request, actor);
        if (!work) continue;
        if (!signal?.aborted) return work;
        await this.#giveBack(work, actor);
      }
      // Others are at all of these: there may be more behind them.
      if (ready.length < limit) return undefined;
    }
  }

  async #tryStart(due: Due, request: WorkClaim, actor: Actor): Promise<Work | undefined> {
    const key = keyOf(due.session, due.id);
    if (this.#taking.has(key)) return undefined;
    this.#taking.add(key);
    try {
      return await this.#start(due, request, actor);
    } catch (error) {
      // One session that cannot be read or written must not keep workers from the others.
      if (!this.#closed)
        this.#context.log(`Run ${due.id} of session ${due.session} could not be started`, error);
      return undefined;
    } finally {
      this.#taking.delete(key);
    }
  }

  /** Whoever asked left while the attempt was being started: the run goes to the next, not only when its lease ends. */
  async #giveBack({ session, runId, attempt }: Work, actor: Actor): Promise<void> {
    try {
      await this.#context.act(session, actor, (draft, env) =>
        decideTimer(draft, { type: "left", runId, attempt }, env),
      );
    } catch (error) {
      this.#context.log(`Run ${runId} of session ${session} could not be given back`, error);
    }
  }

  #start(due: Due, request: WorkClaim, actor: Actor): Promise<Work | undefined> {
    const { session, id: runId } = due;
    return this.#context.act(session, actor, (draft, env, on) => {
      const wakeId = draft.state.runs.get(runId)?.wakeId;
      if (wakeId === undefined) {
        if (!on.due.get("work", runId)) on.due.remove("work", runId, due.group);
        return undefined;
      }
      const started = this.#startNow(draft, env, { session, runId, wakeId }, request);
      return "code" in started ? undefined : started;
    });
  }

  #startNow(
    draft: Draft,
    env: Env,
    { session, runId, wakeId }: Pick<Work, "session" | "runId" | "wakeId">,
    { worker, claims = true, tools, complete, instance }: WorkClaim,
  ): Work | Rejection {
    const start = { runId, wakeId, worker, claims };
    const ruling = startRun(
      draft,
      { ...start, ...(tools && { tools }), ...(complete && { complete }) },
      env,
    );
    if (ruling.error) return ruling.error;
    const attempt = draft.state.runs.get(runId)?.attempt ?? 0;
    if (instance !== undefined) this.#holders.set(session, runId, { attempt, instance });
    return { session, runId, attempt, wakeId, offset: draft.state.head };
  }
}

function unknownRun(agent: string, runId: string): Rejection {
  return reject("unknown_run", `Agent ${agent} has no run ${runId} in this session.`);
}

/** A wake id is used once: what was not begun under it by this worker is another's, over, or not begun. */
function refuseWake({ worker }: WorkClaim, wakeId: string): never {
  const message = `Worker ${worker} has no attempt under wake-up ${wakeId}: claim work without naming one.`;
  throw new HoldfastError(reject("run_held", message, { wakeId }));
}

function anywhere(): boolean {
  return true;
}

function keyOf(session: string, runId: string): string {
  return `${session}\n${runId}`;
}
