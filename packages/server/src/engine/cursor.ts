import { HoldfastError, parseOffset, reject, toOffset, type Offset } from "@holdfast/protocol";

/**
 * Where to read from in a log with this head; without a cursor, from the beginning.
 *
 * @param given an offset, with the key of its reader's visibility as `cursorOf` adds it
 * @param key of the visibility it is read with now
 * @throws HoldfastError `invalid_offset`, or `reset` for an offset that this log does not have, or that was reached
 *   under another visibility
 */
export function cursorIn(head: Offset, given: string | undefined, key: string): Offset {
  const at = parseOffset(head);
  const epoch = at?.epoch ?? "";
  if (given === undefined) return toOffset(epoch, 0);
  const [after = "", seen = ""] = given.split("~", 2);
  const cursor = parseOffset(after);
  if (!cursor) {
    throw new HoldfastError(
      reject(
        "invalid_offset",
        `${JSON.stringify(given.slice(0, 64))} is no offset: use one that the server gave, or none.`,
      ),
    );
  }
  if (seen !== key) {
    throw new HoldfastError(
      reject(
        "reset",
        `Another visibility saw the session up to ${after} than yours: read its state and go on from there.`,
        { offset: head },
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
