import { createCompatState, type CompatState } from "./compat.ts";
import { enforceAgUiEvent, isPlainDelta } from "./enforce.ts";
import { createExpandState, expandAgUi, type ExpandState } from "./expand.ts";
import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { createVerifyState, type VerifyOptions, type VerifyState } from "./state.ts";
import { verifyAgUi, verifyAgUiEnd } from "./verify.ts";
import type { AgUiEvent } from "./vocabulary.ts";

/** How far one stream was read. Changed in place by {@link readAgUi}; {@link saveAgUi} makes plain JSON of it. */
export interface AgUiReader {
  /** How many events came. */
  events: number;
  readonly compat: CompatState;
  readonly expand: ExpandState;
  readonly verify: VerifyState;
}

/** What came of one event of a stream. */
export interface AgUiReading {
  /** The events it stands for, chunks expanded, in order; of one with a violation, those before it. */
  readonly events: readonly AgUiEvent[];
  readonly warnings: readonly AgUiWarning[];
  /** The first rule that it breaks: by the specification the stream is over, and failed. */
  readonly violation?: AgUiViolation;
}

/** A reader of one AG-UI stream, from its first event. */
export function createAgUiReader(options: VerifyOptions = {}): AgUiReader {
  return {
    events: 0,
    compat: createCompatState(),
    expand: createExpandState(),
    verify: createVerifyState(options),
  };
}

/**
 * Reads the next event as it came: schema, chunks, then order and ownership, in the order in which the published
 * client does it. Changes `reader` in place, never the event. Reading on after a violation is allowed to whoever
 * wants to know what else is wrong: an event that was refused is as if it had not come.
 */
export function readAgUi(reader: AgUiReader, raw: unknown): AgUiReading {
  const index = reader.events;
  reader.events += 1;
  if (isPlainDelta(raw)) return readEvent(reader, raw, [], index);
  const { value, warnings, violation } = enforceAgUiEvent(
    raw,
    reader.compat,
    reader.verify.run?.runId,
  );
  if (value !== undefined) return readEvent(reader, value, [...warnings], index);
  return { events: [], warnings, ...(violation && { violation: { ...violation, index } }) };
}

/** What is wrong with the stream, if anything, now that nothing more comes: see {@link verifyAgUiEnd}. */
export function endAgUi(reader: AgUiReader): AgUiViolation | undefined {
  const violation = verifyAgUiEnd(reader.verify);
  return violation && { ...violation, index: reader.events };
}

function readEvent(
  reader: AgUiReader,
  event: AgUiEvent,
  warnings: AgUiWarning[],
  index: number,
): AgUiReading {
  const events: AgUiEvent[] = [];
  const unexpanded = expandAgUi(reader.expand, event, events);
  if (unexpanded) return { events: [], warnings, violation: { ...unexpanded, index } };
  for (let at = 0; at < events.length; at += 1) {
    const expanded = events[at];
    const broken = expanded && verifyAgUi(reader.verify, expanded, warnings);
    if (broken) return { events: events.slice(0, at), warnings, violation: { ...broken, index } };
  }
  return { events, warnings };
}
