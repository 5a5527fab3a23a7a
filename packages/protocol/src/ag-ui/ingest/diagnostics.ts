import type { AgUiRule } from "../rules.ts";
import { clip } from "./record.ts";

/**
 * Something of a stream that was taken otherwise than it came, or not at all. `rule` is one of the protocol's, or:
 *
 * - `reopened`: a message went on in a later round, as a message of its own
 * - `restated`: a call that was approved came again whole, and is the same
 * - `changed`: one came under the id of a call that was approved, as another tool's or with other arguments
 * - `unknown_call`: a result of a call that nobody made is kept as a RAW event
 * - `snapshot`: a snapshot says otherwise of a message that is not its agent's to change any more
 * - `other_run`: a run before the one that was asked for is history, and was left out
 */
export interface AgUiDiagnostic {
  readonly rule:
    | AgUiRule
    | "reopened"
    | "restated"
    | "changed"
    | "unknown_call"
    | "snapshot"
    | "other_run";
  readonly message: string;
  /** Which event of the stream, from 0. */
  readonly index: number;
  readonly path?: string;
  readonly id?: string;
}

/** How many of a stream are kept; of the rest, how many there were. */
const MOST = 20;

/** How much is told of each, in characters. */
const MOST_TOLD = 500;

export interface Diagnostics {
  note(diagnostic: AgUiDiagnostic): void;
  /** What was noted, to be kept with the run; nothing where that is nothing. */
  record(): {
    readonly diagnostics?: readonly AgUiDiagnostic[];
    readonly diagnosticsLeftOut?: number;
  };
}

export function createDiagnostics(): Diagnostics {
  const kept: AgUiDiagnostic[] = [];
  let count = 0;
  return {
    note(diagnostic) {
      count += 1;
      if (kept.length >= MOST) return;
      const { message, path, id } = diagnostic;
      kept.push({
        ...diagnostic,
        message: clip(message, MOST_TOLD),
        ...(path !== undefined && { path: clip(path, MOST_TOLD) }),
        ...(id !== undefined && { id: clip(id, MOST_TOLD) }),
      });
    },
    record: () => ({
      ...(kept.length > 0 && { diagnostics: [...kept] }),
      ...(count > kept.length && { diagnosticsLeftOut: count - kept.length }),
    }),
  };
}
