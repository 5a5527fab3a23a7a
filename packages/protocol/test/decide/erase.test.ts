import { argumentsForModel, eraseEntry, resultOf, type AgentItem } from "@holdfast/protocol";
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";

const SECRET = "s3cret-walnut";
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** A call and messages that say the secret in every place they have. */
function scene() {
  const desk = openDesk({ tools: [{ name: "pay", approval: "always" }] });
  const runId = desk.send("m1", { content: SECRET, metadata: { app: SECRET } });
  desk.start(runId);
  const agent = desk.agent(runId);
  const meta = { codec: SECRET };
  applied(
    agent.append(
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "t1", metadata: meta },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: SECRET },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: SECRET, metadata: meta },
      { type: "TEXT_MESSAGE_END", messageId: "t1" },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "t1",
        encryptedValue: SECRET,
      },
      ...proposal("c1", "pay", JSON.stringify({ to: SECRET })).map(
        (item) => ({ ...item, metadata: meta }) as AgentItem,
      ),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "c1",
        encryptedValue: SECRET,
      },
      { type: "CUSTOM", name: "codec.chunk", value: { toolCallId: "c1", said: SECRET } },
      { type: "call.annotate", callId: "c1", metadata: meta },
      { type: "call.ask", callId: "c1", reason: SECRET, metadata: meta },
      { type: "round.close" },
    ),
  );
  const { id: approvalId = "" } = desk.call("c1").approval ?? {};
  const edit = {
    arguments: JSON.stringify({ to: `${SECRET}!` }),
    reason: SECRET,
    payload: { note: SECRET },
  };
  applied(desk.user({ type: "call.decide", callId: "c1", approvalId, approved: true, ...edit }));
  const claim = applied(agent.command({ type: "call.claim", callId: "c1" }));
  const claimId = claim.claimId ?? "";
  applied(
    agent.append(
      { type: "call.progress", callId: "c1", claimId, progress: SECRET, metadata: meta },
      {
        type: "call.answer",
        callId: "c1",
        claimId,
        outcome: "ok",
        answer: { type: "json", value: { done: SECRET } },
        metadata: meta,
      },
    ),
  );
  const erase = (target: { callId: string } | { messageId: string }) =>
    desk.user({ type: "content.erase", ...target, reason: "asked for" }, "dpo");
  return { desk, agent, erase };
}

const says = (value: unknown) => JSON.stringify(value).includes(SECRET);
const logWithout = (desk: Desk, target: { callId: string } | { messageId: string }) =>
  desk.entries.map((entry) => eraseEntry(entry, target, { by: "x", at: 1 }, digest) ?? entry);

it("6.21 takes all that a call says out of state and log, and keeps what was done", () => {
  const { desk, erase } = scene();
  applied(erase({ callId: "c1" }));
  const call = desk.call("c1");
  expect(says(call)).toBe(false);
  expect(JSON.stringify(call)).not.toContain(digest(JSON.stringify({ to: SECRET })));
  expect(call).toMatchObject({
    status: "settled",
    outcome: "ok",
    arguments: "",
    answer: { answer: { type: "text", text: "[erased]" }, by: "agent:demo" },
    approval: { decision: { approved: true, by: "user:ana", edited: { from: "" } } },
    erased: { by: "user:dpo", at: 1_000 },
  });
  expect([...desk.state.items.values()].filter(says).map(({ id }) => id)).toEqual([
    "t1",
    expect.stringMatching(/^event:/),
  ]);
  const left = logWithout(desk, { callId: "c1" }).filter(says);
  expect(left.map(({ event }) => event.type)).toEqual([
    "message.added",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_CONTENT",
    "REASONING_ENCRYPTED_VALUE",
  ]);
  expect(resultOf(call)).toEqual({
    kind: "answer",
    outcome: "ok",
    answer: { type: "text", text: "[erased]" },
  });
  expect(argumentsForModel(call)).toEqual({});
});

it.each(["m1", "t1"])("6.21 takes all that message %s says out of state and log", (messageId) => {
  const { desk, erase } = scene();
  applied(erase({ messageId }));
  const row = desk.state.messages.get(messageId) ?? desk.state.items.get(messageId);
  expect(row).toMatchObject({ erased: { by: "user:dpo", at: 1_000 } });
  expect(says(row)).toBe(false);
  const about = logWithout(desk, { messageId }).filter(
    ({ event }) =>
      ("messageId" in event && event.messageId === messageId) ||
      ("entityId" in event && event.entityId === messageId),
  );
  expect(about.length).toBeGreaterThan(0);
  expect(about.filter(says)).toEqual([]);
});

it("6.21 leaves the digest of what an act said, and of nothing else", () => {
  const { desk } = scene();
  const erased = logWithout(desk, { callId: "c1" }).filter(({ erased: mark }) => mark);
  const digested = erased.filter(({ erased: mark }) => mark?.digest !== undefined);
  expect(digested.map(({ event }) => event.type)).toEqual(["call.decided", "call.answered"]);
  expect(erased.length).toBeGreaterThan(8);
});

it("6.21 refuses what still grows, and what is not there", () => {
  const { desk, agent, erase } = scene();
  const items: AgentItem[] = [
    { type: "round.open" },
    { type: "TEXT_MESSAGE_START", messageId: "t2" },
    ...proposal("c2", "pay"),
  ];
  applied(agent.append(...items));
  expect(erase({ messageId: "t2" }).error?.code).toBe("not_ready");
  expect(erase({ callId: "c2" }).error?.code).toBe("not_ready");
  expect(erase({ messageId: "none" }).error?.code).toBe("unknown_node");
  expect(erase({ messageId: [...desk.state.items.keys()][0] ?? "" }).error?.code).toBe(
    "unknown_node",
  );
  expect(erase({ callId: "none" }).error?.code).toBe("unknown_call");
});

it("6.21 changes nothing the second time", () => {
  const { desk, erase } = scene();
  applied(erase({ callId: "c1" }));
  const { head } = desk.state;
  expect(erase({ callId: "c1" }).repeated).toBe(true);
  expect(desk.state.head).toBe(head);
});

it("6.21 lets nothing be said again of what was erased", () => {
  const { desk, agent, erase } = scene();
  applied(erase({ callId: "c1" }));
  applied(erase({ messageId: "t1" }));
  const encrypted = { type: "REASONING_ENCRYPTED_VALUE", encryptedValue: SECRET } as const;
  const answer = { type: "json", value: { done: SECRET } } as const;
  const { skipped = [] } = agent.append(
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "call.annotate", callId: "c1", metadata: { again: SECRET } },
    { ...encrypted, subtype: "tool-call", entityId: "c1" },
    { ...encrypted, subtype: "message", entityId: "t1" },
    { type: "call.answer", callId: "c1", outcome: "ok", answer },
  );
  expect(skipped.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
  expect(says(skipped)).toBe(false);
  expect(says(desk.call("c1"))).toBe(false);
});

it("6.21 begins no erased message again, in the round it was said in", () => {
  const { agent, erase } = scene();
  const start = { type: "TEXT_MESSAGE_START", messageId: "t2" } as const;
  const end = { type: "TEXT_MESSAGE_END", messageId: "t2" } as const;
  applied(agent.append({ type: "round.open" }, start, end, start, end));
  applied(erase({ messageId: "t2" }));
  expect(agent.append(start).skipped?.[0]?.error.code).toBe("sequence_violation");
});

it("6.21 takes an erased call for no other one", () => {
  const { desk, agent, erase } = scene();
  applied(erase({ callId: "c1" }));
  applied(agent.append({ type: "round.open" }, ...proposal("c1", "pay", "{}")));
  expect([...desk.state.calls.values()].map(({ providerId }) => providerId)).toEqual([
    undefined,
    "c1",
  ]);
});
