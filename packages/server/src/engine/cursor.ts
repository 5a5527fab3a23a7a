import { HoldfastError, parseOffset, reject, toOffset, type Offset } from "@holdfast/protocol";

/**
 * Where to read from in a log with this head; without an offset, from the beginning.
 *
 * @throws HoldfastError `invalid_offset`, or `reset` for an offset that this log does not have
 */
export function cursorIn(head: Offset, after: Offset | undefined): Offset {
  const at = parseOffset(head);
  const epoch = at?.epoch ?? "";
  if (after === undefined) return toOffset(epoch, 0);
  const cursor = parseOffset(after);
  if (!cursor) {
    throw new HoldfastError(
      reject(
        "invalid_offset",
        `${JSON.stringify(after.slice(0, 64))} is no offset: use one that the server gave, or none.`,
      ),
    );
  }
  if (cursor.epoch === epoch && after <= head) return after;
  throw new HoldfastError(
    reject(
      "reset",
      `Offset ${after} is not in this session's log: read its state and go on from there.`,
      { offset: head },
    ),
  );
}
