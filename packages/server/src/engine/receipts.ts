import { hash } from "node:crypto";
import {
  callsOf,
  canonical,
  reject,
  type Actor,
  type Command,
  type ErasedTarget,
  type Offset,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";

/** What an applied command is remembered by. */
export interface Receipt {
  readonly hash: string;
  /** The message or call it says something of: whoever has the hash could guess what. */
  readonly about?: string;
  readonly verdict: Verdict;
  /** Unix milliseconds. */
  readonly at: number;
}

/** How long a command's id is remembered, in milliseconds. */
export const RECEIPT_MS = 24 * 60 * 60 * 1000;

/**
 * The receipts of one session, oldest first. They are stored in the commit of their command, so that a command sent
 * again after a crash gets the verdict it had.
 */
export class Receipts {
  readonly #byId: Map<string, Receipt>;

  /** @param receipts in any order */
  constructor(receipts: readonly (readonly [id: string, receipt: Receipt])[] = []) {
    this.#byId = new Map(receipts.toSorted(([, a], [, b]) => a.at - b.at));
  }

  get(id: string, now: number): Receipt | undefined {
    const receipt = this.#byId.get(id);
    return receipt && receipt.at > now - RECEIPT_MS ? receipt : undefined;
  }

  set(id: string, receipt: Receipt): void {
    this.#byId.delete(id);
    this.#byId.set(id, receipt);
  }

  /** Forgets those about any of these, and names them: what is sent again is refused by what stands. */
  forget(about: ReadonlySet<string>): string[] {
    const named = [...this.#byId].filter(([, receipt]) => about.has(receipt.about ?? ""));
    for (const [id] of named) this.#byId.delete(id);
    return named.map(([id]) => id);
  }

  /** Forgets those that are too old, and names them. */
  expire(now: number): string[] {
    const expired: string[] = [];
    for (const [id, { at }] of this.#byId) {
      if (at > now - RECEIPT_MS) break;
      this.#byId.delete(id);
      expired.push(id);
    }
    return expired;
  }
}

/** The receipt of a command that was just applied. */
export function receiptOf(command: Command, digest: string, verdict: Verdict, at: number): Receipt {
  const about =
    command.type === "message.send"
      ? command.messageId
      : "callId" in command
        ? command.callId
        : undefined;
  return { hash: digest, ...(about !== undefined && { about }), verdict, at };
}

/** What receipts are about that have to go with what is erased. */
export function subjectsOf(state: SessionState, target: ErasedTarget): ReadonlySet<string> {
  if ("messageId" in target) return new Set([target.messageId]);
  if ("callId" in target) return new Set([target.callId]);
  return new Set(callsOf(state, target.runId).map(({ id }) => id));
}

/**
 * Whether a command keeps a receipt. Appends are recognised by their producer's sequence instead; heartbeats and
 * renewals say the same thing however often they are said.
 */
export function keepsReceipt(command: Command): boolean {
  switch (command.type) {
    case "run.append":
    case "run.heartbeat":
    case "step.start":
    case "step.end":
    case "run.finish":
    case "run.fail":
    case "run.release":
    case "call.renew":
      return false;
    default:
      return true;
  }
}

/** What makes two sendings the same command: its body, and who sends it, down to the attempt. */
export function hashCommand(command: Command, actor: Actor): string {
  return hash("sha256", canonical([actor.principal, actor.attempt ?? null, command]), "base64url");
}

/** The verdict that a command had, for the same command; `key_reused` for another one under its id. */
export function repeatOf(id: string, known: Receipt, digest: string, head: Offset): Verdict {
  if (known.hash === digest) return { ...known.verdict, repeated: true };
  const error = reject(
    "key_reused",
    `Command id ${id} was used for another command: send this one under an id of its own.`,
  );
  return { id, status: "rejected", offset: head, error };
}
