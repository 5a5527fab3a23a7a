import {
  createDraft,
  decide,
  toRows,
  type Actor,
  type Command,
  type Draft,
  type Env,
  type Offset,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";
import {
  StorageConflict,
  type Batch,
  type Commit,
  type DueChange,
  type RowChange,
  type TagChange,
} from "../storage/storage.ts";
import type { ActorContext } from "./actor-context.ts";
import type { Deliveries } from "./deliveries.ts";
import { DueIndex } from "./due-index.ts";
import { failedOn } from "./errors.ts";
import { frame, type FrameText } from "./frame.ts";
import { hashCommand, keepsReceipt, receiptOf, repeatOf, subjectsOf } from "./receipts.ts";
import { refusalsOf } from "./refusal.ts";
import { openBatch, type OpenBatch } from "./open-batch.ts";
import { findRefused, type Carried, type Plan } from "./plan.ts";
import { rowChanges, type LoadedSession } from "./rows.ts";
import { Subscription } from "./subscription.ts";
import { withArguments } from "./claimed.ts";
import { TagIndex } from "./tags.ts";
import { noteTerms } from "./terms.ts";
import { Unsigned } from "./unsigned.ts";
import { FULL, type Snapshot, type Visibility } from "./visibility.ts";

/**
 * One loaded session: its state, and the queue of what happens to it.
 *
 * Work is decided synchronously, in the order it came, on a state that may run ahead of storage. What it emits
 * gathers in the open batch while the previous commit is in flight. A result is delivered once every batch it saw is
 * durable, so nobody learns of anything that could still be lost. When a commit fails, whatever was decided on top of
 * it is void: everyone who waits is refused, and state and actor are thrown away.
 */
export class SessionActor {
  readonly id: string;
  readonly #context: ActorContext;
  readonly #draft: Draft;
  readonly #receipts: LoadedSession["receipts"];
  readonly #due: DueIndex;
  readonly #tags: TagIndex;
  /** What somebody outside is told of; what is changed there from within {@link act} belongs to its commit. */
  readonly deliveries: Deliveries;
  /** What of its acts is signed; what is said there from within {@link act} belongs to its commit. */
  readonly unsigned: Unsigned;
  readonly #subscriptions = new Map<Subscription, Visibility>();
  #open = openBatch();
  /** The head storage has; null until the session exists there. */
  #stored: Offset | null;
  #committed: Offset;
  #inFlight: Promise<void> | undefined;
  #flushing = false;
  #failure: Error | undefined;
  #snapshot: Snapshot | undefined;
  /** How many readers catch up and must find this actor when they are done. */
  pins = 0;
  /** Somebody asked for it since it was last considered for forgetting. */
  used = true;

  /** @param isNew the session is not in storage yet; the first commit creates it */
  constructor(id: string, loaded: LoadedSession, isNew: boolean, context: ActorContext) {
    this.id = id;
    this.#context = context;
    this.#receipts = loaded.receipts;
    this.deliveries = loaded.deliveries;
    this.#draft = createDraft(loaded.state, loaded.epoch, loaded.seq, context.salt);
    this.#committed = loaded.state.head;
    this.#stored = isNew ? null : loaded.state.head;
    this.#due = new DueIndex(loaded.state, context.terms, context.leases.of(id));
    this.unsigned = new Unsigned(id, this.#due, isNew);
    this.#tags = new TagIndex(loaded.state);
  }

  /** The newest offset that is durable. */
  get head(): Offset {
    return this.#committed;
  }

  /** The newest offset, durable or not. */
  get reached(): Offset {
    return this.#draft.state.head;
  }

  /** It must not be used any more: its session went away, or a commit failed. */
  get dropped(): boolean {
    return this.#failure !== undefined;
  }

  /** The tool of a call; undefined for one that there is not, or that only repeated another. */
  readonly toolOf = (callId: string): string | undefined =>
    this.#draft.state.calls.get(callId)?.name;

  /** Nothing is under way and nobody listens: the actor may be forgotten. */
  get idle(): boolean {
    return (
      !this.#inFlight &&
      this.#open.waiting.length === 0 &&
      this.#draft.empty &&
      this.#subscriptions.size === 0 &&
      this.pins === 0
    );
  }

  /** Resolves when the commit in flight, if any, has ended either way. */
  async settled(): Promise<void> {
    await this.#inFlight;
  }

  /** Commits what waits without waiting for company; resolves when nothing does any more. */
  async drain(): Promise<void> {
    while (this.#inFlight || this.#open.waiting.length > 0 || this.#open.readers.length > 0) {
      this.#flush();
      await this.#inFlight;
    }
  }

  /**
   * Decides commands now, in order and with nothing in between, not atomically; one verdict each, once all of them are
   * durable. A command that was applied in the last 24 hours gets its verdict again, and `key_reused` where its id said
   * something else. What is refused goes to the audit, once what it was refused on is durable.
   */
  submit(commands: readonly Command[], actor: Actor): Promise<Verdict[]> {
    return this.act(actor, (draft, env) => {
      const { attempt: mine } = actor;
      if (mine) this.#due.renewAttempt(draft.state, mine.runId, mine.attempt, env.now);
      return commands.map((command) => this.#say(draft, command, env));
    });
  }

  /**
   * Makes a plan of the state as it is, and carries all of it out at once or nothing: then what was refused goes to the
   * audit, as that of a command does.
   */
  carryOut(plan: (state: SessionState, env: Env) => Plan, actor: Actor): Promise<Carried> {
    return this.act(actor, (draft, env) => {
      const planned = plan(draft.state, env);
      if ("refused" in planned) return planned;
      const found = findRefused(draft.state, planned.steps, env);
      if (!found) {
        return { verdicts: planned.steps.map(({ command }) => this.#say(draft, command, env)) };
      }
      this.#noteRefused(draft, found.command, env, found.verdict);
      return { refused: found.error };
    });
  }

  /** Runs `work` on the state at once; its result comes when everything it saw and did is durable. */
  act<T>(actor: Actor, work: (draft: Draft, env: Env) => T): Promise<T> {
    if (this.#failure) return Promise.reject(this.#failure);
    let result: T;
    try {
      result = work(this.#draft, this.#context.env(actor));
    } catch (error) {
      // The state may be half changed: nothing that was decided on it can be kept.
      const failure = failedOn("Deciding failed", error);
      this.#fail(failure);
      return Promise.reject(failure);
    }
    return new Promise((resolve, reject) => {
      this.#open.waiting.push({ done: () => resolve(result), failed: reject });
      this.#flushSoon();
    });
  }

  /** The index rows; what is changed there from within {@link act} belongs to its commit. */
  get due(): DueIndex {
    return this.#due;
  }

  /** The whole state at an offset, as soon as that offset is durable. Shows nothing that could still be lost. */
  async snapshot(): Promise<Snapshot> {
    if (this.#failure) throw this.#failure;
    if (!this.#inFlight && this.#draft.empty) return this.#serialise();
    const open = this.#open;
    return new Promise((resolve, reject) => {
      open.readers.push({
        done: () => {
          if (open.snapshot) resolve(open.snapshot);
        },
        failed: reject,
      });
      this.#flushSoon();
    });
  }

  /**
   * From now on, every commit becomes a frame in the subscription, until it is closed. The first one follows
   * {@link head}. `onSlow` hears that the reader fell behind and was closed.
   */
  subscribe(onSlow?: () => void, visibility: Visibility = FULL): Subscription {
    const subscription = new Subscription(this.#context.subscriberBytes, onSlow);
    if (this.#failure) subscription.close();
    else this.#subscriptions.set(subscription, visibility);
    return subscription;
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    subscription.close();
  }

  /** Refuses everyone who waits and forgets the state; a commit in flight runs to its end. */
  drop(error: Error): void {
    this.#fail(error);
  }

  #say(draft: Draft, command: Command, env: Env): Verdict {
    const verdict = withArguments(draft.state, command, env, this.#decide(draft, command, env));
    if (verdict.error || verdict.skipped) this.#noteRefused(draft, command, env, verdict);
    return verdict;
  }

  #noteRefused(draft: Draft, command: Command, env: Env, verdict: Verdict): void {
    const refusals = refusalsOf(draft.state, command, env, verdict);
    this.#open.refusals = this.#open.refusals?.concat(refusals) ?? refusals;
  }

  #decide(draft: Draft, command: Command, env: Env): Verdict {
    if (!keepsReceipt(command)) return this.#decideNow(draft, command, env);
    const digest = hashCommand(command, env.actor);
    const known = this.#receipts.get(command.id, env.now);
    if (known) return repeatOf(command.id, known, digest, draft.state.head);
    const verdict = this.#decideNow(draft, command, env);
    if (verdict.status !== "rejected") {
      if (command.type === "content.erase") {
        const forgotten = this.#receipts.forget(subjectsOf(draft.state, command));
        for (const id of forgotten) this.#open.receipts.push([id, null]);
      }
      const receipt = receiptOf(command, digest, verdict, env.now);
      this.#receipts.set(command.id, receipt);
      this.#open.receipts.push([command.id, receipt]);
    }
    return verdict;
  }

  #decideNow(draft: Draft, command: Command, env: Env): Verdict {
    return noteTerms(this.#due, draft.state, command, decide(draft, command, env), env);
  }

  #flushSoon(): void {
    if (this.#flushing || this.#inFlight || this.#failure) return;
    this.#flushing = true;
    if (this.#context.coalesceMs > 0) {
      this.#context.schedule(this.#context.coalesceMs, () => this.#flush());
    } else {
      queueMicrotask(() => this.#flush());
    }
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#failure || this.#inFlight) return;
    const batch = this.#open;
    this.#open = openBatch();
    let commit: Commit | undefined;
    try {
      commit = this.#seal(batch);
      if (batch.readers.length > 0) batch.snapshot = this.#serialise();
    } catch (error) {
      this.#open = batch;
      this.#fail(failedOn("Sealing failed", error));
      return;
    }
    if (!commit) {
      if (batch.refusals) this.#context.audit.note(this.id, batch.refusals);
      for (const { done } of batch.waiting) done();
      for (const { done } of batch.readers) done();
      return;
    }
    this.#inFlight = this.#commit(commit, batch);
  }

  async #commit(commit: Commit, batch: OpenBatch): Promise<void> {
    try {
      await this.#context.storage.append(commit);
    } catch (error) {
      this.#inFlight = undefined;
      const failure =
        error instanceof StorageConflict ? error : failedOn("The commit failed", error);
      for (const { failed } of batch.waiting) failed(failure);
      for (const { failed } of batch.readers) failed(failure);
      this.#fail(failure);
      // It may be durable all the same: then its timers are to fire, and its work is there.
      const hints = failure instanceof StorageConflict ? [] : commit.due.filter(isArmed);
      if (hints.length > 0) this.#context.unsure(this.id, hints);
      return;
    }
    this.#inFlight = undefined;
    this.#stored = commit.head;
    this.#committed = commit.head;
    if (commit.batch) this.#broadcast(commit.batch);
    if (batch.acts > 0) this.#context.acted(this.id, batch.acts);
    if (batch.refusals) this.#context.audit.note(this.id, batch.refusals);
    for (const { done } of batch.waiting) done();
    for (const { done } of batch.readers) done();
    if (commit.due.length > 0 || commit.tags) this.#context.committed(this.id, commit);
    if (this.#open.waiting.length > 0 || this.#open.readers.length > 0) this.#flushSoon();
  }

  /** The commit of everything since the last one, or undefined where nothing is to be written. */
  #seal(batch: OpenBatch): Commit | undefined {
    const { state } = this.#draft;
    const now = this.#context.storage.now();
    const rows: RowChange[] = [];
    let tags: readonly TagChange[] = [];
    let entries: Batch | undefined;
    if (!this.#draft.empty) {
      this.#snapshot = undefined;
      const sealed = this.#draft.seal();
      batch.acts = sealed.acts;
      const last = sealed.entries.at(-1);
      if (last) {
        entries = {
          after: sealed.after,
          last: last.offset,
          count: sealed.entries.length,
          json: JSON.stringify(sealed.entries),
        };
      }
      rows.push(...rowChanges(state, sealed.touched));
      this.#due.note(state, sealed.touched, now);
      tags = this.#tags.note(state, sealed.touched);
      this.deliveries.note(state, sealed.touched);
    }
    const told = this.deliveries.take();
    if (told) {
      rows.push(...told.rows);
      tags = [...tags, ...told.tags];
    }
    this.unsigned.seal(batch.acts, state.head, now);
    const due = this.#due.take();
    if (batch.receipts.length > 0) {
      for (const [id, receipt] of batch.receipts) {
        rows.push({ kind: "receipt", id, value: receipt && JSON.stringify(receipt) });
      }
      for (const id of this.#receipts.expire(now)) {
        rows.push({ kind: "receipt", id, value: null });
      }
    }
    if (!entries && rows.length === 0 && due.length === 0) return undefined;
    return {
      session: this.id,
      expect: this.#stored,
      head: state.head,
      ...(entries && { batch: entries }),
      rows,
      due,
      ...(tags.length > 0 && { tags }),
    };
  }

  #broadcast(batch: Batch): void {
    if (this.#subscriptions.size === 0) return;
    const made = new Map<string, FrameText>();
    for (const [subscription, visibility] of this.#subscriptions) {
      const { key } = visibility;
      let text = made.get(key);
      if (!text) made.set(key, (text = frame(batch, visibility, this.toolOf)));
      if (!subscription.push(text)) this.#subscriptions.delete(subscription);
    }
  }

  /** Only called where the state shows no more than what is durable once the batch just sealed is. */
  #serialise(): Snapshot {
    const { state } = this.#draft;
    if (this.#snapshot?.offset !== state.head) {
      this.#snapshot = { offset: state.head, text: JSON.stringify(toRows(state)) };
    }
    return this.#snapshot;
  }

  #fail(failure: Error): void {
    if (this.#failure) return;
    this.#failure = failure;
    const { waiting, readers } = this.#open;
    this.#open = openBatch();
    for (const { failed } of waiting) failed(failure);
    for (const { failed } of readers) failed(failure);
    for (const subscription of this.#subscriptions.keys()) subscription.close();
    this.#subscriptions.clear();
    this.#context.dropped(this);
  }
}

function isArmed({ at }: DueChange): boolean {
  return at !== null;
}
