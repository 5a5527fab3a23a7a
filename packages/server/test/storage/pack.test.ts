import { expect, test } from "vitest";
import type { Change } from "../../src/storage/group.ts";
import { pack, unpack } from "../../src/storage/sqlite/pack.ts";
import { addition, batch, creation, late, refused, rowsOnly } from "../suites/commits.ts";

const rows = [
  { kind: "run", id: "", value: "append" },
  { kind: "delete", id: "r", value: null },
];
const due = [
  { kind: "lease", id: "r", at: 0, group: "" },
  { kind: "work", id: "r", at: null, group: "a" },
];
const tags = [
  { kind: "call", id: "c", at: -1, tags: ["a", ""] },
  { kind: "call", id: "d", at: 2, tags: [] },
  { kind: "", id: "", at: 0, tags: null },
];
const changes: readonly Change[] = [
  { type: "append", commit: creation("append") },
  { type: "delete", session: "append" },
  { type: "append", commit: addition("s", 0, 3, { rows, due }) },
  { type: "append", commit: rowsOnly("s", 3, { due, tags }) },
  { type: "audit", session: "delete", records: [refused("append"), late("", "")] },
  { type: "audit", session: "s", records: [] },
  { type: "erase", session: "s", erasure: { batches: [batch(0, 2), batch(2, 3)], late: "erase" } },
  { type: "erase", session: "", erasure: { batches: [] } },
  { type: "delete", session: "" },
];

test("changes are the same after the way between threads", () => {
  expect(unpack(structuredClone(pack(changes)))).toStrictEqual(changes);
  expect(unpack(pack([]))).toEqual([]);
});

test("what was cut off is refused", () => {
  const packed = pack(changes);
  expect(() => unpack(packed.slice(0, -1))).toThrow(TypeError);
  expect(() => unpack(["append", "s", null, "h", null, "none"])).toThrow(TypeError);
});
