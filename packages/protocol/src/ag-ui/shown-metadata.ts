import { isObject, type Metadata } from "../json.ts";
import { AG_UI } from "./interrupt.ts";

/** Owners of metadata that is ours: hints, what has a place of its own in AG-UI, and what a call was sealed with. */
const HIDDEN: ReadonlySet<string> = new Set(["holdfast", AG_UI, "encryptedValue"]);

/** Metadata as AG-UI readers see it; undefined for none. */
export function shownMetadata(metadata: Metadata | undefined): Metadata | undefined {
  if (!isObject(metadata)) return undefined;
  const shown = Object.entries(metadata).filter(([owner]) => !HIDDEN.has(owner));
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}

/**
 * What an event adds, as its row has it now. A session merges one level deeper than AG-UI does, and both come out the
 * same where each owner's object is said whole.
 */
export function mergedMetadata(
  added: Metadata | undefined,
  row: Metadata | undefined,
): Metadata | undefined {
  const shown = shownMetadata(added);
  if (!shown || !row) return undefined;
  const owners = Object.keys(shown).filter((owner) => Object.hasOwn(row, owner));
  return owners.length === 0
    ? undefined
    : Object.fromEntries(owners.map((owner) => [owner, row[owner]]));
}

/** What AG-UI has a field for and a session has none: `name`, `encryptedValue`, `error`, `interrupt`, … */
export function agUiExtra(metadata: Metadata | undefined): Readonly<Record<string, unknown>> {
  const extra = metadata?.[AG_UI];
  return isObject(extra) ? extra : {};
}
