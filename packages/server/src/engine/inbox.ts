import { waitingOf, type Approval, type Call, type Waiting } from "@holdfast/protocol";
import type { Commit, Storage } from "../storage/storage.ts";
import { tagOf } from "./tags.ts";

/** Which calls are asked for: those for which all that is named holds. */
export interface CallQuery {
  readonly tool?: string;
  readonly status?: PendingCall["status"];
  readonly waitsFor?: Waiting["kind"];
  /** The principal whose session it is. */
  readonly owner?: string;
  readonly agent?: string;
  /** True: only those that were found to wait too long. */
  readonly escalated?: true;
  /** Only those that wait since before this. Unix milliseconds. */
  readonly waitingBefore?: number;
  /** The `next` of an earlier page of the same query. */
  readonly after?: string;
  readonly newestFirst?: boolean;
  readonly limit: number;
}

/** A call that waits for somebody, as a list shows it. What was asked of the tool is read from its session. */
export interface PendingCall {
  readonly session: string;
  readonly id: string;
  readonly runId: string;
  readonly tool: string;
  readonly status: "gated" | "open" | "claimed";
  readonly executor: Call["executor"];
  readonly waiting: Waiting;
  /** What a decision must name; without digest and reason for who does not see the tool's data. */
  readonly approval?: Pick<Approval, "id" | "digest" | "reason" | "expiresAt">;
  /** When it was found to wait too long for a person. Unix milliseconds. */
  readonly escalatedAt?: number;
}

/** Those that wait longest first, unless the newest were asked for. */
export interface CallPage {
  readonly calls: readonly PendingCall[];
  /** Where to go on; absent once there is nothing more. A page may be short of its limit, or empty, and have one. */
  readonly next?: string;
}

/**
 * What somebody who watches is told: a call as it is now, or one that waits no more or matches no more; without an id,
 * all of a session that was deleted.
 */
export type InboxNews =
  | { readonly type: "page"; readonly page: CallPage }
  | { readonly type: "call"; readonly call: PendingCall }
  | { readonly type: "gone"; readonly session: string; readonly id?: string };

/** Whether what is in a session may be shown. */
export type MayRead = (session: string) => boolean;

/** Whether the data of a session's tool may be shown: the digest and the reason of an approval. */
export type SeesData = (session: string, tool: string) => boolean;

const ALL: SeesData = () => true;

export interface WatchOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly seesData?: SeesData;
  /** Hears, at once, that the reader fell too far behind and is told nothing more. */
  readonly onSlow?: () => void;
  /** Who reads, for the limit on readers of one principal. */
  readonly principal?: string;
}

/** How much news waits for one who watches. */
const MOST_NEWS = 1000;

/** What one piece of it is counted as, in characters, beside the reason of its approval. */
const NEWS_SIZE = 512;

/** The calls of all sessions that wait for somebody, from storage; and whoever watches them. */
export class Inbox {
  readonly #storage: Storage;
  readonly #maxBytes: number;
  readonly #watchers = new Set<Watcher>();

  /** @param maxBytes the most news that waits for one who watches, in characters */
  constructor(storage: Storage, maxBytes: number) {
    this.#storage = storage;
    this.#maxBytes = maxBytes;
  }

  /** One page. Sessions that may not be read are left out, so that pages may be short. */
  async calls(query: CallQuery, mayRead: MayRead, seesData = ALL): Promise<CallPage> {
    const { waitingBefore: before, after, newestFirst, limit } = query;
    const { rows, next } = await this.#storage.find({
      kind: "call",
      tags: tagsOf(query),
      limit,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      ...(newestFirst && { newestFirst }),
    });
    const calls = rows.flatMap(({ session, value }) => {
      const call = mayRead(session) ? pendingCall(session, JSON.parse(value) as Call) : undefined;
      return call ? [shownTo(call, seesData)] : [];
    });
    return { calls, ...(next !== undefined && { next }) };
  }

  /**
   * The first page, and from then on every change of calls that match. What changes while the page is read may be told
   * twice, and what is gone though it was never told of; nothing is missed. Ends without an error when `signal` says
   * so, the server closes, or the reader is too slow: then the list is to be read anew.
   */
  async *watch(
    query: CallQuery,
    mayRead: MayRead,
    { signal, seesData = ALL, onSlow }: WatchOptions,
  ): AsyncGenerator<InboxNews, void, void> {
    const maxBytes = this.#maxBytes;
    const watcher = new Watcher(query, { mayRead, seesData, maxBytes, onSlow });
    const stop = () => watcher.close();
    signal.addEventListener("abort", stop);
    this.#watchers.add(watcher);
    try {
      yield { type: "page", page: await this.calls(query, mayRead, seesData) };
      while (!signal.aborted) {
        const news = await watcher.take();
        if (!news) return;
        yield* news;
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.#watchers.delete(watcher);
    }
  }

  /** Hears of every commit. */
  committed(session: string, { rows, tags = [] }: Pick<Commit, "rows" | "tags">): void {
    if (this.#watchers.size === 0) return;
    for (const change of tags) {
      if (change.kind !== "call") continue;
      const row = rows.find(({ kind, id }) => kind === "call" && id === change.id);
      const call = row?.value ? pendingCall(session, JSON.parse(row.value) as Call) : undefined;
      for (const watcher of this.#watchers) watcher.tell(session, change.id, change.tags, call);
    }
  }

  /** Hears of every session that was deleted, and with it whatever waited there. */
  removed(session: string): void {
    for (const watcher of this.#watchers) watcher.tellRemoved(session);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

interface WatcherOptions {
  readonly mayRead: MayRead;
  readonly seesData: SeesData;
  readonly maxBytes: number;
  readonly onSlow: (() => void) | undefined;
}

class Watcher {
  readonly #tags: readonly string[];
  readonly #before: number;
  readonly #options: WatcherOptions;
  #news: InboxNews[] = [];
  #bytes = 0;
  #wake = Promise.withResolvers<void>();
  #closed = false;

  constructor(query: CallQuery, options: WatcherOptions) {
    this.#tags = tagsOf(query);
    this.#before = query.waitingBefore ?? Infinity;
    this.#options = options;
  }

  tell(
    session: string,
    id: string,
    tags: readonly string[] | null,
    call: PendingCall | undefined,
  ): void {
    const { mayRead, seesData } = this.#options;
    if (this.#closed || !mayRead(session)) return;
    const isMatch =
      call && call.waiting.since < this.#before && this.#tags.every((tag) => tags?.includes(tag));
    const seen = isMatch && shownTo(call, seesData);
    this.#push(seen ? { type: "call", call: seen } : { type: "gone", session, id });
  }

  tellRemoved(session: string): void {
    if (this.#closed || !this.#options.mayRead(session)) return;
    this.#push({ type: "gone", session });
  }

  /** What came since the last time, at least one; undefined once it is closed. */
  async take(): Promise<readonly InboxNews[] | undefined> {
    while (this.#news.length === 0 && !this.#closed) {
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
    if (this.#closed) return undefined;
    const news = this.#news;
    this.#news = [];
    this.#bytes = 0;
    return news;
  }

  close(): void {
    this.#closed = true;
    this.#news = [];
    this.#wake.resolve();
  }

  #push(news: InboxNews): void {
    const { maxBytes, onSlow } = this.#options;
    this.#news.push(news);
    this.#bytes += sizeOf(news);
    // One alone is never too much: it is as large as a page may have them.
    const isTooMuch = this.#news.length > MOST_NEWS || this.#bytes > maxBytes;
    if (!isTooMuch || this.#news.length === 1) return this.#wake.resolve();
    this.close();
    onSlow?.();
  }
}

function sizeOf(news: InboxNews): number {
  const reason = news.type === "call" ? news.call.approval?.reason : undefined;
  return NEWS_SIZE + (reason?.length ?? 0);
}

/** The rarest first, as storage wants them. */
function tagsOf(query: CallQuery): string[] {
  const fields = ["escalated", "owner", "tool", "status", "waitsFor", "agent"] as const;
  return fields.flatMap((field) => {
    const value = query[field];
    return value === undefined ? [] : [tagOf(field, value)];
  });
}

/** A call as a list shows it, or undefined where it waits for nobody. */
function pendingCall(session: string, call: Call): PendingCall | undefined {
  const { id, runId, name: tool, status, executor, approval, escalatedAt } = call;
  if (status !== "gated" && status !== "open" && status !== "claimed") return undefined;
  return {
    session,
    id,
    runId,
    tool,
    status,
    executor,
    waiting: waitingOf(call),
    ...(status === "gated" && approval && { approval: asked(approval) }),
    ...(escalatedAt !== undefined && { escalatedAt }),
  };
}

/** The call as its reader sees it, who decides by the approval's id. */
function shownTo(call: PendingCall, seesData: SeesData): PendingCall {
  const { session, tool, approval } = call;
  if (!approval || seesData(session, tool)) return call;
  const { reason: _, ...kept } = approval;
  return { ...call, approval: { ...kept, digest: "" } };
}

function asked({ id, digest, reason, expiresAt }: Approval): NonNullable<PendingCall["approval"]> {
  return {
    id,
    digest,
    ...(reason !== undefined && { reason }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
