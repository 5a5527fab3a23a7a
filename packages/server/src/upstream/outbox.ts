import {
  HoldfastError,
  type AgentItem,
  type Command,
  type CommandBody,
  type Rejection,
  type Verdict,
} from "@holdfast/protocol";

export interface OutboxOptions {
  readonly runId: string;
  readonly attempt: number;
  /** Sends one command as the attempt. Rejects for what is no verdict: a failed commit, too many of them. */
  readonly submit: (command: Command) => Promise<Verdict>;
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** The attempt counts no more; called once. */
  readonly onOver: (error: HoldfastError) => void;
  /** An item was not taken. */
  readonly onRefused: (item: AgentItem, error: Rejection) => void;
}

/** The last word of an attempt. */
export type LastWord =
  Extract<CommandBody, { type: "run.finish" | "run.fail" | "run.release" }> extends infer T
    ? T extends unknown
      ? Omit<T, "runId" | "attempt" | "producer" | "seq">
      : never
    : never;

/** How much may wait before the reader does, in characters of what came. */
const MOST_WAITING = 4 * 1024 * 1024;

/** The most items of one commit. */
const MOST_ITEMS = 500;

/** How often a commit that failed is tried again, and how long is waited in between, in milliseconds. */
const TRIES = 8;
const WAIT_MS = 250;

/**
 * The way of an attempt's items into the log: in order, one append at a time. What gathers during one goes together in
 * the next, so that a lone item waits for nothing, and a flood is few commits. An append that failed is sent again as it was.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #items: AgentItem[] = [];
  #waiting = 0;
  #seq = 0;
  #pumping: Promise<void> | undefined;
  #room: (() => void)[] = [];
  #over: HoldfastError | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Takes items; resolves when there is room for more. */
  push(items: readonly AgentItem[], size: number): Promise<void> {
    if (this.#over) return Promise.resolve();
    // One by one: a snapshot may come to more than a call takes arguments.
    for (const item of items) this.#items.push(item);
    this.#waiting += size;
    if (items.length > 0) this.#pumping ??= this.#pump();
    if (this.#waiting <= MOST_WAITING) return Promise.resolve();
    return new Promise((resolve) => this.#room.push(resolve));
  }

  /** Resolves when everything so far is in the log, or will never be. */
  async flush(): Promise<void> {
    while (this.#pumping) await this.#pumping;
  }

  /** The last word, after everything so far. */
  async end(word: LastWord): Promise<void> {
    await this.flush();
    if (!this.#over) await this.#send(word as CommandBody);
  }

  async #pump(): Promise<void> {
    // A microtask later, so that what is pushed in one go travels together.
    await Promise.resolve();
    while (this.#items.length > 0 && !this.#over) {
      const items = this.#items.splice(0, MOST_ITEMS);
      if (this.#items.length === 0) this.#waiting = 0;
      const verdict = await this.#send({ type: "run.append", items } as unknown as CommandBody);
      for (const { index, error } of verdict?.skipped ?? []) {
        const item = items[index];
        if (item) this.#options.onRefused(item, error);
      }
      if (verdict?.ended) this.#end({ code: "budget_exceeded", message: verdict.ended.message });
      if (this.#waiting <= MOST_WAITING) for (const go of this.#room.splice(0)) go();
    }
    this.#items = [];
    for (const go of this.#room.splice(0)) go();
    this.#pumping = undefined;
  }

  async #send(body: CommandBody): Promise<Verdict | undefined> {
    const { runId, attempt, submit } = this.#options;
    this.#seq += 1;
    const fence = { runId, attempt, producer: PRODUCER, seq: this.#seq };
    const command = {
      id: `${runId}.${attempt}.${PRODUCER}.${this.#seq}`,
      ...body,
      ...fence,
    } as Command;
    for (let tries = 1; ; tries += 1) {
      try {
        const verdict = await submit(command);
        if (verdict.error) this.#end(verdict.error);
        return verdict;
      } catch (error) {
        const known = error instanceof HoldfastError ? error : undefined;
        if (!known?.retryable || tries >= TRIES) {
          this.#end(known?.toRejection() ?? { code: "internal", message: String(error) });
          return undefined;
        }
        const { retryAfterMs } = known.details ?? {};
        await this.#pause(typeof retryAfterMs === "number" ? retryAfterMs : WAIT_MS * tries);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.schedule(ms, resolve));
  }

  #end(rejection: Rejection): void {
    if (this.#over) return;
    this.#over = new HoldfastError(rejection);
    this.#options.onOver(this.#over);
  }
}

/** The attempt's one appender. */
const PRODUCER = "upstream";
