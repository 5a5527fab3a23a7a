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

const NONE: readonly AgUiWarning[] = Object.freeze([]);

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
  if (isPlainDelta(raw) && reader.expand.lanes.size === 0) return readOne(reader, raw, index);
  const enforced = enforceAgUiEvent(raw, reader.compat, reader.verify.run?.runId);
  const { value, violation } = enforced;
  if (value === undefined) {
    const { warnings } = enforced;
    return { events: [], warnings, ...(violation && { violation: { ...violation, index } }) };
  }
  const warnings = [...enforced.warnings];
  const expanded: AgUiEvent[] = [];
  const unexpanded = expandAgUi(reader.expand, value, expanded);
  if (unexpanded) return { events: [], warnings, violation: { ...unexpanded, index } };
  for (let at = 0; at < expanded.length; at += 1) {
    const event = expanded[at];
    const broken = event && verifyAgUi(reader.verify, event, warnings);
    if (broken) {
      return { events: expanded.slice(0, at), warnings, violation: { ...broken, index } };
    }
  }
  return { events: expanded, warnings };
}

/** What is wrong with the stream, if anything, now that nothing more comes: see {@link verifyAgUiEnd}. */
export function endAgUi(reader: AgUiReader): AgUiViolation | undefined {
  const violation = verifyAgUiEnd(reader.verify);
  return violation && { ...violation, index: reader.events };
}

/** A fragment that nothing has to be done to, but to see whether what it continues is open. */
function readOne(reader: AgUiReader, event: AgUiEvent, index: number): AgUiReading {
  const warnings: AgUiWarning[] = [];
  const violation = verifyAgUi(reader.verify, event, warnings);
  return violation
    ? { events: [], warnings, violation: { ...violation, index } }
    : { events: [event], warnings: NONE };
}
