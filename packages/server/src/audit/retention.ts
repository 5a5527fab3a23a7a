import { AUDIT_KEPT } from "../storage/storage.ts";
import type { RefusalLink } from "./chain.ts";

/** A refusal as a checkpoint remembers it. */
export type Kept = Pick<RefusalLink, "seq" | "of" | "group" | "digest">;

/**
 * The numbers of refusals that were kept at a checkpoint and now are gone or changed, though nothing that came since has
 * pushed them out ({@link AUDIT_KEPT}).
 *
 * @param before what was kept at the checkpoint
 * @param now what is kept
 * @param unseen how many numbers were given since and are gone already: each may have been of any group
 */
export function unexplained(
  before: readonly Kept[],
  now: readonly Kept[],
  unseen: number,
): number[] {
  const present = new Map(now.map((kept) => [kept.seq, kept]));
  const last = before.at(-1)?.seq ?? 0;
  const all = [...before, ...now.filter(({ seq }) => seq > last)];
  return before
    .filter((kept) => {
      const found = present.get(kept.seq);
      if (found) return !isSame(kept, found);
      const newer = all.filter(({ seq, of }) => seq > kept.seq && of === kept.of);
      const { ofGroup, ofSession } = AUDIT_KEPT[kept.of];
      const inGroup = newer.filter(({ group }) => group === kept.group).length;
      return inGroup + unseen < ofGroup && newer.length + unseen < ofSession;
    })
    .map(({ seq }) => seq);
}

function isSame(a: Kept, b: Kept): boolean {
  return a.of === b.of && a.group === b.group && a.digest === b.digest;
}
