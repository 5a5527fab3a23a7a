import type { SessionState, TouchedRow } from "@holdfast/protocol";
import type { RowChange, TagChange } from "../storage/storage.ts";
import type { DeliveryKind } from "./due.ts";
import { tagOf } from "./tags.ts";

/** How far the server came with telling somebody outside of something in the session. Before the first try there is none. */
export interface Delivery {
  readonly kind: DeliveryKind;
  /** The run or call it is about. */
  readonly about: string;
  /** What the receiver knows it by, however often it is sent. */
  readonly id: string;
  /** `accepted`: the receiver has it. `dead`: given up, until somebody asks for it. */
  readonly status: "pending" | "accepted" | "dead";
  readonly tries: number;
  /** When its tries began, Unix milliseconds. */
  readonly since: number;
  /** When it is tried again, if it still matters then; absent where it is not. Unix milliseconds. */
  readonly nextAt?: number;
  /** When it was last accepted or given up, Unix milliseconds. */
  readonly at?: number;
  /** What the last try that failed failed of. */
  readonly error?: string;
}

/**
 * A session's deliveries: at most one about each run and each kind of a call's waits. They are rows of the session, in no
 * state and in no log. One about a run goes in the commit that uses up its wake id, one about a call in that which
 * settles it.
 */
export class Deliveries {
  readonly #all = new Map<string, Delivery>();
  #rows: RowChange[] = [];
  #tags: TagChange[] = [];

  /** @param stored as storage has them */
  constructor(stored: readonly Delivery[] = []) {
    for (const delivery of stored) this.#all.set(keyOf(delivery.kind, delivery.about), delivery);
  }

  get(kind: DeliveryKind, about: string): Delivery | undefined {
    return this.#all.get(keyOf(kind, about));
  }

  values(): readonly Delivery[] {
    return [...this.#all.values()];
  }

  /** Keeps it in place of what was, in the next commit. */
  put(delivery: Delivery): void {
    const key = keyOf(delivery.kind, delivery.about);
    this.#bury(key, delivery);
    this.#all.set(key, delivery);
    this.#rows.push({ kind: "delivery", id: key, value: JSON.stringify(delivery) });
  }

  /** Removes what a batch made pointless. */
  note(state: SessionState, touched: readonly TouchedRow[]): void {
    if (this.#all.size === 0) return;
    for (const { kind, id } of touched) {
      if (kind === "run") {
        const wakeId = state.runs.get(id)?.wakeId;
        const wake = this.get("wake", id);
        if (wake && wake.id !== wakeId) this.#remove("wake", id);
      } else if (kind === "call" && (state.calls.get(id)?.status ?? "settled") === "settled") {
        this.#remove("waiting", id);
        this.#remove("escalated", id);
      }
    }
  }

  /** The changes since the last call, if any; they belong in the next commit. */
  take(): { readonly rows: readonly RowChange[]; readonly tags: readonly TagChange[] } | undefined {
    if (this.#rows.length === 0) return undefined;
    const taken = { rows: this.#rows, tags: this.#tags };
    [this.#rows, this.#tags] = [[], []];
    return taken;
  }

  #remove(kind: DeliveryKind, about: string): void {
    const key = keyOf(kind, about);
    if (!this.#all.has(key)) return;
    this.#bury(key, undefined);
    this.#all.delete(key);
    this.#rows.push({ kind: "delivery", id: key, value: null });
  }

  /** Dead ones are found across sessions: oldest first, and each by its id. */
  #bury(id: string, next: Delivery | undefined): void {
    const known = this.#all.get(id);
    if (next?.status === "dead") {
      const tags = [DEAD, idTag(next.id)];
      this.#tags.push({ kind: "delivery", id, at: next.at ?? 0, tags });
    } else if (known?.status === "dead") {
      this.#tags.push({ kind: "delivery", id, at: 0, tags: null });
    }
  }
}

/** What dead ones are tagged with. */
export const DEAD = "dead";

export function idTag(id: string): string {
  return tagOf("id", id);
}

function keyOf(kind: DeliveryKind, about: string): string {
  return `${kind} ${about}`;
}
