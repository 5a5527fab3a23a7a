import type { CallOutcome, SettleReason } from "./call.ts";
import type { Command } from "./command.ts";
import type { ErrorCode } from "./errors.ts";
import type { Offset } from "./offset.ts";

/** What a session's audit holds, as it travels (SPEC 6.9). */
export type AuditRecord = AuditRefusal | AuditDropped;

/** One command, or one item of an append, that was refused. */
export interface AuditRefusal extends AuditAct {
  /** `late_answer`: an answer, from the executor's side, to a call that was settled by then. */
  readonly type: "refused" | "late_answer";
  /** The session's head it was refused at; absent where the session was not asked. */
  readonly offset?: Offset;
  /** The attempt whose token it came with. */
  readonly attempt?: { readonly runId: string; readonly attempt: number };
  readonly command: {
    readonly id: string;
    readonly type: Command["type"];
    /** Which item of an append it was, from 0. */
    readonly item?: number;
  };
  readonly callId?: string;
  readonly runId?: string;
  readonly code: ErrorCode;
  readonly winner?: AuditWinner;
  /** What a late answer says of the call. */
  readonly outcome?: "ok" | "error";
  readonly payload: {
    /**
     * SHA-256, hex, of the JSON text of the append's item, or of the command without its id: no space, members in the
     * order the server has them. Of a late answer: of `salt`, a line feed and its JSON text. Stays when both are erased.
     */
    readonly digest: string;
    /** Of that text, in UTF-8. */
    readonly bytes: number;
    /** `content` is only the text's beginning. */
    readonly truncated?: true;
    /** Then: the digest of `salt`, a line feed and `content`. */
    readonly kept?: string;
  };
  /** Of a late answer: its JSON text, or the beginning of it. */
  readonly content?: string;
  /** Random, so that a digest tells nothing of content that is erased; goes with `content`. */
  readonly salt?: string;
}

/** How many refusals of one actor were not kept, since there were too many at once. */
export interface AuditDropped extends AuditAct {
  readonly type: "dropped";
  readonly what: AuditRefusal["type"];
  readonly count: number;
  /** When the first of them was refused, Unix milliseconds; `at` is the last. */
  readonly since: number;
}

/** Who or what stood in the way: it settled the call, decided upon it, or holds it. */
export interface AuditWinner {
  readonly by: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** What a settled call ended as. */
  readonly outcome?: CallOutcome;
  readonly reason?: SettleReason;
}

interface AuditAct {
  /** Counts what was written to the session's audit; the number to read on after. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly actor: string;
}
