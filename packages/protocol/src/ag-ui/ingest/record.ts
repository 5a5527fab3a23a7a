import type { AgentItem } from "../../command.ts";
import { AG_UI } from "../interrupt.ts";

/** What a run's metadata says of one stream, so far (SPEC 12.5.9). */
export interface StreamRecord {
  /**
   * Adds to it. `words` are what others go by: how the stream ended, and why. `more` is the agent's, of any size: where it
   * is long the words are said alone first, since a session takes no event that is too large.
   */
  note(words: Record<string, unknown>, more?: Record<string, unknown>): AgentItem[];
}

/** How long all of a record may be that is said at once, in characters. */
const LONG = 16 * 1024;

export function createRecord(stream: string): StreamRecord {
  let said: Record<string, unknown> = {};
  let all: Record<string, unknown> = {};
  const annotation = (record: Record<string, unknown>): AgentItem => ({
    type: "run.annotate",
    metadata: { [AG_UI]: { [stream]: record } },
  });
  return {
    note(words, more = {}) {
      said = { ...said, ...words };
      all = { ...all, ...more, ...words };
      const isLong = JSON.stringify(all).length > LONG;
      return isLong ? [annotation(said), annotation(all)] : [annotation(all)];
    },
  };
}

/** The most of a failure that is told, in characters. An agent may put anything into its words, and ids into ours. */
const MOST = { code: 256, message: 4_000 };

/** An agent's words as far as everybody is told them: a run ends in them, whatever their length. */
export function clip(text: string, most: number = MOST.message): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** How a run fails, in words that a session takes. */
export function clipFailure<F extends { readonly code?: string; readonly message: string }>(
  failure: F,
): F {
  const { code, message } = failure;
  return {
    ...failure,
    message: clip(message),
    ...(code !== undefined && { code: clip(code, MOST.code) }),
  };
}
