import { reduce, toRows, type SessionState } from "@holdfast/protocol";
import { expect, it } from "vitest";
import { frame } from "../../../src/engine/frame.ts";
import { FULL } from "../../../src/engine/visibility.ts";
import { entriesOf, stateOf } from "../../../src/faces/ag-ui/in-common.ts";
import { photograph } from "../../../../protocol/test/support/photograph.ts";
import { thread } from "./planning.ts";

const snapshotOf = (state: SessionState) => ({
  offset: state.head,
  text: JSON.stringify(toRows(state)),
});

it("readers of one session keep once what is the same to them, whenever they came", () => {
  const { desk, runId } = thread({ c1: "page", c2: "page" });
  const first = stateOf("s1", snapshotOf(desk.state));
  const answer = { type: "text", text: "here" } as const;
  desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer });
  const second = stateOf("s1", snapshotOf(desk.state));
  const third = stateOf("s1", snapshotOf(desk.state));
  for (const late of [second, third]) {
    expect(toRows(late)).toEqual(toRows(desk.state));
    expect(late.messages.get("m1")).toBe(first.messages.get("m1"));
    expect(late.items.get("a1")).toBe(first.items.get("a1"));
    expect(late.calls.get("c2")).toBe(first.calls.get("c2"));
    expect(late.calls.get("c1")).not.toBe(first.calls.get("c1"));
  }
  expect(third.calls.get("c1")).toBe(second.calls.get("c1"));
  expect(third.runs.get(runId)).toBe(second.runs.get(runId));
});

it("what one of them reads on is nothing to the others", () => {
  const { desk } = thread({ c1: "page" });
  const [one, other] = [1, 2].map(() => stateOf("s2", snapshotOf(desk.state)));
  if (!one || !other) throw new Error("There are two.");
  const before = photograph(other);
  const at = desk.entries.length;
  const answer = { type: "text", text: "here" } as const;
  desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer });
  for (const entry of desk.entries.slice(at)) reduce(one, entry);
  expect(toRows(one)).toEqual(toRows(desk.state));
  expect(photograph(other)).toEqual(before);
});

it("who sees less shares with who sees as little", () => {
  const { desk } = thread({ c1: "page" });
  const snapshot = snapshotOf(desk.state);
  const text = snapshot.text.replaceAll('"arguments":"{}"', '"arguments":""');
  const less = stateOf("s3", { ...snapshot, text, visibility: "v" });
  const all = stateOf("s3", snapshot);
  const third = stateOf("s3", { ...snapshot, text, visibility: "v" });
  expect(third.calls.get("c1")).toBe(less.calls.get("c1"));
  expect(third.calls.get("c1")).not.toBe(all.calls.get("c1"));
});

it("a frame is read once for all", () => {
  const json = JSON.stringify([{ offset: "e.2", at: 1, event: { type: "run.suspended" } }]);
  const sent = frame({ after: "e.1", last: "e.2", json }, FULL, () => undefined);
  expect(entriesOf(sent)).toEqual(JSON.parse(json));
  expect(entriesOf(sent)).toBe(entriesOf(sent));
});
