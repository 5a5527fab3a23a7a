import {
  redactEntry,
  redactRows,
  type Call,
  type Entry,
  type Offset,
  type Sees,
  type StateRows,
  type ToolOf,
} from "@holdfast/protocol";

/** Which tools' data a reader sees in a session (SPEC 7.7). */
export interface Visibility {
  /** The same for all who see the same; empty for who sees everything. */
  readonly key: string;
  readonly sees: Sees;
  /** Who reads: a state shows it the arguments of the calls that it holds. */
  readonly principal?: string;
}

/** Everything. */
export const FULL: Visibility = { key: "", sees: () => true };

/** The JSON of entries as a reader gets it: for who sees everything, the very text that was stored. */
export function entriesFor(json: string, { key, sees }: Visibility, toolOf: ToolOf): string {
  if (key === "") return json;
  const entries = JSON.parse(json) as Entry[];
  return JSON.stringify(entries.map((entry) => redactEntry(entry, sees, toolOf)));
}

/** Where a reader goes on: the offset, and what it saw until there. */
export function cursorOf(offset: Offset, { key }: Pick<Visibility, "key">): string {
  return key === "" ? offset : `${offset}~${key}`;
}

/** A state as it travels, and the offset it holds for. */
export interface Snapshot {
  readonly offset: Offset;
  /** JSON of the protocol's `StateRows`. */
  readonly text: string;
  /** The key of the visibility that it was made for; absent where it is everything. */
  readonly visibility?: string;
}

/** A state as a reader gets it. Made once for all who see the same, but for those who hold calls. */
export function snapshotFor(full: Snapshot, visibility: Visibility): Snapshot {
  const { key, principal } = visibility;
  if (key === "") return full;
  let made = redacted.get(full);
  if (!made) redacted.set(full, (made = new Map()));
  let known = made.get(key);
  if (!known) made.set(key, (known = redact(full, visibility)));
  if (principal === undefined || !known.holders.has(principal)) return known.snapshot;
  return redact(full, visibility, (call) => holderOf(call) === principal).snapshot;
}

interface Redacted {
  readonly snapshot: Snapshot;
  /** Those who hold calls, whatever they see. */
  readonly holders: ReadonlySet<string>;
}

const redacted = new WeakMap<Snapshot, Map<string, Redacted>>();

function redact(
  { offset, text }: Snapshot,
  { key, sees }: Visibility,
  shown?: (call: Call) => boolean,
): Redacted {
  const rows = JSON.parse(text) as StateRows;
  const holders = new Set(rows.calls.flatMap((call) => holderOf(call) ?? []));
  const seen = JSON.stringify(redactRows(rows, sees, shown));
  return { snapshot: { offset, text: seen, visibility: key }, holders };
}

function holderOf({ claim }: Call): string | undefined {
  return claim?.implicit ? undefined : claim?.by;
}
