import { toOffset } from "@holdfast/protocol";
import { expect, it } from "vitest";
import { BEHIND_ALL, cursorText, readCursor } from "../../../src/faces/ag-ui/cursor.ts";

const head = toOffset("life1", 9);
const full = { key: "" };

it("12.4.4 a cursor is read as it was written, under the same visibility", () => {
  for (const visibility of [full, { key: "a-b_c" }]) {
    for (const index of [0, 12, BEHIND_ALL]) {
      const cursor = { offset: toOffset("life1", 7), index };
      expect(readCursor(cursorText(cursor, visibility), head, visibility)).toEqual(cursor);
    }
  }
});

it.each([
  ["another life", cursorText({ offset: toOffset("life0", 7), index: 0 }, full), full, "reset"],
  ["ahead", cursorText({ offset: toOffset("life1", 10), index: 0 }, full), full, "reset"],
  ["other eyes", cursorText({ offset: head, index: 0 }, full), { key: "x" }, "reset"],
  ["an offset alone", head, full, "invalid_offset"],
  ["nothing", "", full, "invalid_offset"],
])("12.4.4 %s is no place to go on from", (_, text, visibility, code) => {
  expect(() => readCursor(text, head, visibility)).toThrow(expect.objectContaining({ code }));
});
