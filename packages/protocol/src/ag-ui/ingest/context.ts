import type { AgUiMessage } from "../vocabulary.ts";
import type { AgUiDiagnostic } from "./diagnostics.ts";
import type { IngestIds } from "./ids.ts";
import type { Rounds } from "./rounds.ts";
import type { AgUiScope } from "./scope.ts";

/** What the parts of one stream's encoder share. */
export interface IngestContext {
  readonly scope: AgUiScope;
  readonly ids: IngestIds;
  readonly rounds: Rounds;
  /** Notes something about the event at hand. */
  readonly note: (rule: AgUiDiagnostic["rule"], message: string, id?: string) => void;
  /** Whether a call was made before this stream. */
  readonly isGivenCall: (id: string) => boolean;
  /** Whether what was there before is known, so that anything else is known not to have been. */
  readonly isHistoryKnown: () => boolean;
  /** What the stream's agent was told of; nothing where that is not known. */
  readonly history: () => readonly AgUiMessage[];
}
