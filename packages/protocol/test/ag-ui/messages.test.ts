import type { AgentItem } from "@holdfast/protocol";
import { agUiMessages, enforceAgUiEvent } from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { applied } from "../support/desk.ts";
import { follow } from "./client.ts";
import { atWork, held, played } from "./play.ts";
import { watch } from "./reader.ts";

it.each<[string, object[], object?]>([
  ["removes the whole", [{ op: "remove", path: "" }]],
  ["puts no object in its place", [{ op: "replace", path: "", value: [] }]],
  [
    "moves a part there",
    [
      { op: "add", path: "/n", value: 1 },
      { op: "move", from: "/n", path: "" },
    ],
  ],
  ["puts an object there", [{ op: "replace", path: "", value: { n: 2 } }], { n: 2 }],
])(
  "12.3.14 an activity's message holds an object, for who watches and for who joins, after a patch that %s",
  async (_, patch, content = { kept: 1 }) => {
    const { desk, agent } = atWork();
    const on = { messageId: "a", activityType: "plan" };
    agent.append({ type: "ACTIVITY_SNAPSHOT", ...on, content: { kept: 1 } }, {
      type: "ACTIVITY_DELTA",
      ...on,
      patch,
    } as AgentItem);
    applied(agent.finish());
    const next = desk.send("m2");
    desk.start(next);
    const told = { id: "a", role: "activity", activityType: "plan", content };
    expect((await held(desk)).messages).toContainEqual(told);
    const cut = desk.entries.length;
    const joined = watch(structuredClone(desk.entries), { cuts: [cut] }).joined.get(cut) ?? [];
    expect((await follow(joined)).messages).toContainEqual(told);
    for (const event of [...played(desk), ...joined]) {
      expect(enforceAgUiEvent(event).violation).toBeUndefined();
    }
  },
);

it("12.5.3 a value that is sealed of a message without words, which carries a call, is that message's", async () => {
  const { desk, agent } = atWork();
  agent.append(
    { type: "round.open" },
    {
      type: "TOOL_CALL_START",
      toolCallId: "c1",
      toolCallName: "search",
      parentMessageId: "p1",
    },
    {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: "p1",
      encryptedValue: "sealed",
    },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  );
  applied(agent.finish());
  const told = { id: "p1", role: "assistant", encryptedValue: "sealed" };
  expect((await held(desk)).messages).toContainEqual(expect.objectContaining(told));
  expect(agUiMessages(desk.state)).toContainEqual(expect.objectContaining(told));
});
