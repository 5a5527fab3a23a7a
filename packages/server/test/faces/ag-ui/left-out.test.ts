import type { AgentItem } from "@holdfast/protocol";
import { worker } from "@holdfast/sdk/agent";
import { expect, it, vi } from "vitest";
import { openStage, PLAIN, post, round, user } from "./stage.ts";

// What an agent appends that AG-UI does not describe, without an encoder that would have noted it.
const ODD = [
  { type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant", shade: "blue" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: "He", "sha\nde\n\ndata: {}": 1 },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: "llo", shade: "red" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: ".", shade: "red", metadata: { own: 1 } },
  { type: "TEXT_MESSAGE_END", messageId: "a1", name: null },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "look", parentMessageId: "a1" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
] as unknown as AgentItem[];

it("12.3.2 what AG-UI does not know of an event is left out, and a comment says so once", async () => {
  await using stage = await openStage();
  await using _agent = worker({
    url: stage.url,
    token: stage.token("agent:demo"),
    agent: "demo",
    codec: PLAIN,
    handler: (run) => run.append(round(...ODD)),
  });
  const input = { threadId: "s1", runId: "r1", messages: [user("u1", "Hi")], tools: [] };
  const told = await (
    await post(stage, { ...input, context: [], forwardedProps: {}, protocolVersion: "1.0" })
  ).text();
  const comments = told
    .split("\n\n")
    .filter((frame) => frame.startsWith(": ") && !/alive/.test(frame));
  const words = comments.join("\n");
  for (const name of ["TEXT_MESSAGE_START/shade", "TEXT_MESSAGE_CONTENT/shade"]) {
    expect(words.split(name)).toHaveLength(2);
  }
  expect(words).toContain("TEXT_MESSAGE_CONTENT/sha\\nde\\n\\ndata: {}");
  expect(words).not.toMatch(/metadata|parentMessageId|name/);
  const events = told.match(/^data: .*$/gm) ?? [];
  expect(events.length).toBeGreaterThan(5);
  expect(events.join("\n")).not.toContain("sha");

  // A stock client takes no note of it, and finds nothing to strip.
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const client = stage.client();
  await client.connectAgent();
  expect(client.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "c1" });
  expect(client.messages).toContainEqual(expect.objectContaining({ content: "Hello." }));
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
  const { body: log } = await stage.ask("GET", "/v1/sessions/s1/entries");
  expect(JSON.stringify(log)).toContain('"shade":"blue"');
});

it("12.3.2 no more is said of it than some", async () => {
  await using stage = await openStage();
  const many = Array.from({ length: 50 }, (_, n) => ({ [`odd${n}`]: 1 }));
  await using _agent = worker({
    url: stage.url,
    token: stage.token("agent:demo"),
    agent: "demo",
    codec: PLAIN,
    handler: (run) =>
      run.append(
        round(
          ...(many.map((odd) => ({ type: "RAW", event: 1, ...odd })) as unknown as AgentItem[]),
        ),
      ),
  });
  const input = { threadId: "s1", runId: "r1", messages: [user("u1", "Hi")], tools: [] };
  const told = await (await post(stage, { ...input, context: [], forwardedProps: {} })).text();
  expect(told.match(/RAW\/odd/g)).toHaveLength(20);
});
