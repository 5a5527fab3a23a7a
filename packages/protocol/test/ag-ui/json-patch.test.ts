import type { JsonPatchOperation } from "@ag-ui/core";
import { agUiState } from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { applied } from "../support/desk.ts";
import { patched } from "../../src/ag-ui/json-patch.ts";
import { atWork } from "./play.ts";

const delta: JsonPatchOperation[] = [
  { op: "add", path: "/a", value: { x: 1, y: [] } },
  { op: "remove", path: "/a/x" },
  { op: "add", path: "/a/y/-", value: 2 },
];

it("12.3.14 a patch that changes what it put in is the same the next time", () => {
  const before = structuredClone(delta);
  const document = { b: 0 };
  const expected = { value: { b: 0, a: { y: [2] } } };
  for (const _ of [1, 2]) expect(patched(document, delta)).toEqual(expected);
  expect(delta).toEqual(before);
  expect(document).toEqual({ b: 0 });
});

it("12.3.14 whoever asks for a state gets the same, and changes no entry", () => {
  const { desk, agent } = atWork();
  // Entries and rows of a desk are frozen.
  applied(agent.append({ type: "STATE_DELTA", delta: structuredClone(delta) }));
  for (const _ of [1, 2]) expect(agUiState(desk.state)).toEqual({ a: { y: [2] } });
});
