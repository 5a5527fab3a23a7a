import fc from "fast-check";
import { expect, it } from "vitest";
import { createHeld } from "../../src/ag-ui/held.ts";
import { tell } from "../../src/ag-ui/tell.ts";
import type { AgUiEvent, AgUiMessage } from "@holdfast/protocol/ag-ui";
import { copy, follow } from "./client.ts";

const message = fc
  .record({
    id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    role: fc.constantFrom("user", "assistant", "reasoning", "activity"),
    content: fc.constantFrom("x", "y"),
  })
  .map(({ id, role, content }): AgUiMessage => {
    if (role === "activity") return { id, role, activityType: "t", content: { content } };
    return { id, role, content } as AgUiMessage;
  });
const list = fc.uniqueArray(message, { selector: ({ id }) => id, maxLength: 6 });

it("12.3.4 any list is brought to any other by what a stock client's merge makes of it", async () => {
  const property = fc.asyncProperty(list, list, async (before, after) => {
    const kinds = new Map(before.map(({ id, role }) => [id, role]));
    // An id is one kind's for good.
    const target = after.filter(({ id, role }) => (kinds.get(id) ?? role) === role);
    const held = createHeld(before);
    const told = tell(held, target, { peer: "1.0", changed: true });
    const snapshots = told.kind === "snapshots" ? told.snapshots : [];
    const events: AgUiEvent[] = [
      { type: "RUN_STARTED", threadId: "s1", runId: "r" },
      ...snapshots.map((messages) => ({ type: "MESSAGES_SNAPSHOT" as const, messages })),
    ];
    const { messages } = await follow(events, { messages: before });
    expect(messages).toEqual(copy(target));
    expect(held.list.map(({ id }) => id)).toEqual(target.map(({ id }) => id));
    expect(snapshots.length).toBeLessThanOrEqual(3);
  });
  await fc.assert(property, { numRuns: 200 });
});

it("12.3.4 what only stands behind the rest is no snapshot", () => {
  const messages: AgUiMessage[] = ["a", "b", "c"].map((id) => ({ id, role: "user", content: id }));
  const held = createHeld(messages.slice(0, 1));
  expect(tell(held, messages, { peer: "1.0", changed: false })).toEqual({
    kind: "append",
    messages: messages.slice(1),
  });
});
