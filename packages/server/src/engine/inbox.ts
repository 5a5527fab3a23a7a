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

/** What somebody who watches is told: a call as it is now, or one that waits no more or matches no more. */
export type InboxNews =
  | { readonly type: "page"; readonly page: CallPage }
  | { readonly type: "call"; readonly call: PendingCall }
  | { readonly type: "gone"; readonly session: string; readonly id: string };

/** Whether what is in a session may be shown. */
export type MayRead = (session: string) => boolean;

/** Whether the data of a session's tool may be shown: the digest and the reason of an approval. */
export type SeesData = (session: string, tool: string) => boolean;

const ALL: SeesData = () => true;

/** How much news waits for one who watches. */
const MOST_NEWS = 1000;

/** The calls of all sessions that wait for somebody, from storage; and whoever watches them. */
export class Inbox {
  readonly #storage: Storage;
  readonly #watchers = new Set<Watcher>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** One page. Sessions that may not be read are left out, so that pages may be short. */
  async calls(query: CallQuery, mayRead: MayRead, seesData = ALL): Promise<CallPage> {
    const { after, newestFirst, limit } = query;
    const { rows, next } = await this.#storage.find({
      kind: "call",
      tags: tagsOf(query),
      limit,
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
    signal: AbortSignal,
    seesData = ALL,
  ): AsyncGenerator<InboxNews, void, void> {
    const watcher = new Watcher(tagsOf(query), mayRead, seesData);
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

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

class Watcher {
  readonly #tags: readonly string[];
  readonly #mayRead: MayRead;
  readonly #seesData: SeesData;
  #news: InboxNews[] = [];
  #wake = Promise.withResolvers<void>();
  #closed = false;

  constructor(tags: readonly string[], mayRead: MayRead, seesData: SeesData) {
    this.#tags = tags;
    this.#mayRead = mayRead;
    this.#seesData = seesData;
  }

  tell(
    session: string,
    id: string,
    tags: readonly string[] | null,
    call: PendingCall | undefined,
  ): void {
    if (this.#closed || !this.#mayRead(session)) return;
    const isMatch = call && this.#tags.every((tag) => tags?.includes(tag));
    const seen = isMatch && shownTo(call, this.#seesData);
    this.#news.push(seen ? { type: "call", call: seen } : { type: "gone", session, id });
    if (this.#news.length > MOST_NEWS) this.close();
    else this.#wake.resolve();
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
    return news;
  }

  close(): void {
    this.#closed = true;
    this.#wake.resolve();
  }
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
