import type { AgentItem, Answer, ContentLimits, Metadata } from "@holdfast/protocol";
import { expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";

const limits: ContentLimits = {
  eventBytes: 2_000,
  argumentsLength: 100,
  textLength: 300,
  resultBytes: 500,
};
const big = "x".repeat(10_000);
const locate = { name: "locate" };

function scene() {
  const desk = openDesk({ limits, tools: [{ name: "look" }] });
  applied(desk.user({ type: "tools.advertise", tools: [locate] }));
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  applied(agent.append({ type: "round.open" }));
  return { desk, runId, agent };
}

const answers: readonly Answer[] = [
  { type: "text", text: big },
  { type: "json", value: { rows: [big] } },
  { type: "parts", parts: [{ type: "text", text: big }] },
];

it.each(answers)("4.6.8 settles a client's call by a $type answer that is too large", (answer) => {
  const { desk, agent } = scene();
  applied(agent.append(...proposal("c1", "locate"), { type: "round.close" }));
  const said = { type: "call.answer", callId: "c1", outcome: "ok", answer } as const;
  const verdict = applied(desk.user(said));
  const value = JSON.stringify(answer).length;
  expect(verdict.resultTooLarge).toEqual({ limit: 500, value });
  expect(desk.call("c1")).toMatchObject({
    status: "settled",
    outcome: "error",
    reason: "result_too_large",
    answer: { answer: { type: "text", text: expect.stringContaining("It begins: ") } },
  });
  expect(JSON.stringify(desk.entries).length).toBeLessThan(10_000);
  expect(desk.user(said).error?.code).toBe("already_answered");
});

it("4.6.8 settles an agent's call by an answer among other items, and knows its repeat", () => {
  const { desk, agent } = scene();
  const [answer] = answers;
  if (!answer) throw new Error("No answer.");
  const metadata = { codec: { output: big } };
  const said: AgentItem = { type: "call.answer", callId: "c1", outcome: "ok", answer, metadata };
  applied(agent.append(...proposal("c1", "look"), said, ...proposal("c2", "look")));
  expect(desk.call("c1")).toMatchObject({ outcome: "error", reason: "result_too_large" });
  expect(desk.call("c1").answer?.metadata).toBeUndefined();
  const head = desk.state.head;
  applied(agent.append(said));
  expect(desk.state.head).toBe(head);
  expect(desk.call("c2").status).toBe("ended");
});

it("4.6.8 counts an answer's metadata, and cuts no character in half", () => {
  const { desk, agent } = scene();
  applied(agent.append(...proposal("c1", "locate"), ...proposal("c2", "locate")));
  applied(agent.append({ type: "round.close" }));
  const said = { type: "call.answer", outcome: "ok" } as const;
  const small: Answer = { type: "text", text: "ok" };
  const metadata = { codec: { output: "x".repeat(500) } };
  const verdict = applied(desk.user({ ...said, callId: "c1", answer: small, metadata }));
  expect(verdict.resultTooLarge).toMatchObject({ limit: 500 });
  expect(desk.call("c1")).toMatchObject({ outcome: "error", reason: "result_too_large" });
  const halves: Answer = { type: "text", text: `x${"😀".repeat(1_000)}` };
  applied(desk.user({ ...said, callId: "c2", answer: halves }));
  const kept = desk.call("c2").answer?.answer;
  expect(kept?.type === "text" && kept.text.isWellFormed()).toBe(true);
});

it("4.6.8 counts bytes of UTF-8, to the byte", () => {
  for (const [text, cut] of [
    ["é".repeat(237), false],
    ["é".repeat(238), true],
    ["😀".repeat(118), false],
    ["😀".repeat(119), true],
    ["水".repeat(158), false],
    ["水".repeat(159), true],
  ] as const) {
    const { desk, agent } = scene();
    applied(agent.append(...proposal("c1", "locate"), { type: "round.close" }));
    const answer: Answer = { type: "text", text };
    applied(desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer }));
    const bytes = Buffer.byteLength(JSON.stringify(answer));
    expect([text.slice(0, 2), bytes > limits.resultBytes]).toEqual([text.slice(0, 2), cut]);
    expect(desk.call("c1").outcome).toBe(cut ? "error" : "ok");
  }
});

it("4.3.9 settles a call whose arguments grow beyond the limit, and the run goes on", () => {
  const { desk, agent } = scene();
  const args = (delta: string): AgentItem => ({ type: "TOOL_CALL_ARGS", toolCallId: "c1", delta });
  applied(agent.append(...proposal("c1", "locate").slice(0, 1), args("y".repeat(90))));
  applied(agent.append(args("y".repeat(11))));
  expect(desk.call("c1")).toMatchObject({
    status: "settled",
    outcome: "error",
    reason: "arguments_too_large",
    arguments: "y".repeat(90),
  });
  const late = agent.append(args("z"), { type: "TOOL_CALL_END", toolCallId: "c1" });
  expect(late.skipped?.map(({ error }) => error.code)).toEqual(["call_settled", "call_settled"]);
  applied(agent.append(...proposal("c2", "locate"), { type: "round.close" }));
  expect(desk.call("c2").status).toBe("open");
});

it("4.3.9 settles a call by one delta that is no event, and by a replacement that is too long", () => {
  const { desk, agent } = scene();
  const start = (id: string) => proposal(id, "locate").slice(0, 1);
  const delta: AgentItem = {
    type: "TOOL_CALL_ARGS",
    toolCallId: "c1",
    delta: "1",
    metadata: { big },
  };
  applied(agent.append(...start("c1"), delta));
  const replaced = { type: "call.replace_arguments", callId: "c2", arguments: big } as const;
  applied(agent.append(...start("c2"), replaced));
  for (const id of ["c1", "c2"]) expect(desk.call(id).reason).toBe("arguments_too_large");
});

it("4.3.9 refuses an edit that is too long, and the call waits on", () => {
  const { desk, agent } = scene();
  applied(agent.append(...proposal("c1", "look"), { type: "call.ask", callId: "c1" }));
  applied(agent.append({ type: "round.close" }));
  const { digest = "" } = desk.call("c1").approval ?? {};
  const edit = { type: "call.decide", callId: "c1", digest, approved: true } as const;
  const { error } = desk.user({ ...edit, arguments: JSON.stringify("x".repeat(99)) });
  expect(error).toMatchObject({ code: "too_large", details: { limit: 100, value: 101 } });
  expect(desk.call("c1").status).toBe("gated");
});

it("6.19 refuses one item that is too large, and the others stand", () => {
  const { agent, desk } = scene();
  const items: AgentItem[] = [
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: big },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "small" },
    { type: "CUSTOM", name: "n", value: big },
    { type: "run.annotate", metadata: { big } },
    { type: "TEXT_MESSAGE_END", messageId: "t1" },
  ];
  const { skipped = [] } = agent.append(...items);
  expect(skipped.map(({ index, error }) => [index, error.code])).toEqual([
    [1, "too_large"],
    [3, "too_large"],
    [4, "too_large"],
  ]);
  expect(skipped[0]?.error.details).toEqual({
    limit: 2_000,
    value: JSON.stringify(items[1]).length,
  });
  expect(desk.state.items.get("t1")).toMatchObject({ text: "small", status: "closed" });
});

it("6.19 refuses a command that is too large", () => {
  const { desk } = scene();
  const refused = (body: Parameters<Desk["user"]>[0]) => desk.user(body).error?.code;
  expect(refused({ type: "message.send", messageId: "m2", content: big })).toBe("too_large");
  expect(refused({ type: "tools.advertise", tools: [{ name: "t", description: big }] })).toBe(
    "too_large",
  );
  expect(refused({ type: "call.progress", callId: "c1", progress: big })).toBe("too_large");
});

it.each(["TEXT_MESSAGE", "REASONING_MESSAGE"] as const)(
  "6.19 refuses what makes a %s longer than it may be, and it can be ended",
  (kind) => {
    const { agent, desk } = scene();
    const say = (length: number): AgentItem => ({
      type: `${kind}_CONTENT`,
      messageId: "t1",
      delta: "x".repeat(length),
    });
    const start: AgentItem =
      kind === "TEXT_MESSAGE"
        ? { type: "TEXT_MESSAGE_START", messageId: "t1" }
        : { type: "REASONING_MESSAGE_START", messageId: "t1", role: "reasoning" };
    applied(agent.append(start, say(200)));
    const { skipped = [] } = agent.append(say(101), say(100), say(1));
    expect(skipped.map(({ index, error }) => [index, error.code, error.details])).toEqual([
      [0, "too_large", { limit: 300, value: 301 }],
      [2, "too_large", { limit: 300, value: 301 }],
    ]);
    applied(agent.append({ type: `${kind}_END`, messageId: "t1" }));
    expect(desk.state.items.get("t1")).toMatchObject({ text: "x".repeat(300), status: "closed" });
    // Nor does it grow by being begun again.
    expect(agent.append(start, say(1)).skipped?.map(({ index }) => index)).toEqual([1]);
  },
);

it("6.19 refuses metadata that grows a row bit by bit, wherever it may be said", () => {
  const { agent, desk, runId } = scene();
  applied(agent.append(...proposal("c1", "look"), { type: "TEXT_MESSAGE_START", messageId: "t1" }));
  applied(agent.append({ type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "look" }));
  applied(agent.append({ type: "TEXT_MESSAGE_START", messageId: "t2" }));
  const claimed = applied(agent.command({ type: "call.claim", callId: "c1" }));
  const claimId = claimed.claimId ?? "";
  const sayings: readonly ((metadata: Metadata) => AgentItem)[] = [
    (metadata) => ({ type: "run.annotate", metadata }),
    (metadata) => ({ type: "call.annotate", callId: "c1", metadata }),
    (metadata) => ({ type: "call.progress", callId: "c1", claimId, progress: 1, metadata }),
    (metadata) => ({ type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: "", metadata }),
    (metadata) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "", metadata }),
  ];
  for (const say of sayings) {
    const codes = Array.from({ length: 9 }, (_, n) => {
      const { skipped } = agent.append(say({ codec: { [`k${n}`]: "x".repeat(300) } }));
      return skipped?.[0]?.error.code;
    });
    expect(codes[0]).toBeUndefined();
    expect(codes.at(-1)).toBe("too_large");
  }
  const more = { codec: { last: "x".repeat(900) } };
  const last: AgentItem[] = [
    { type: "TOOL_CALL_END", toolCallId: "c2", metadata: more },
    { type: "TEXT_MESSAGE_END", messageId: "t1", metadata: more },
  ];
  expect(agent.append(...last).skipped?.map(({ error }) => error.code)).toEqual([
    "too_large",
    "too_large",
  ]);
  const again: AgentItem[] = [
    { type: "TEXT_MESSAGE_END", messageId: "t1" },
    { type: "TEXT_MESSAGE_START", messageId: "t1", metadata: more },
    { type: "TOOL_CALL_END", toolCallId: "c2" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "look", metadata: more },
  ];
  expect(agent.append(...again).skipped?.map(({ index }) => index)).toEqual([1, 3]);
  for (const row of [desk.run(runId), desk.call("c1"), desk.call("c2")]) {
    expect(JSON.stringify(row.metadata).length).toBeLessThanOrEqual(limits.eventBytes);
  }
});

it("6.19 refuses tools that together are more than a session keeps, and what replaces others is counted once", () => {
  const { desk } = scene();
  const tool = (name: string, length: number) => ({ name, description: "d".repeat(length) });
  const advertise = (...tools: ReturnType<typeof tool>[]) =>
    desk.user({ type: "tools.advertise", tools }).error;
  expect(advertise(tool("a", 600), tool("b", 600))).toBeUndefined();
  expect(advertise(tool("c", 700))).toMatchObject({
    code: "too_large",
    details: { limit: 2_000, value: expect.any(Number) },
  });
  expect(advertise(tool("a", 100), tool("c", 600))).toBeUndefined();
});

it("4.3.5 finds arguments that nest too deep invalid, whoever executes the call, and the run goes on", () => {
  const desk = openDesk({ tools: [{ name: "look" }] });
  applied(desk.user({ type: "tools.advertise", tools: [locate] }));
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  applied(
    agent.append(
      { type: "round.open" },
      ...proposal("c1", "locate", deep),
      ...proposal("c2", "look", deep),
      ...proposal("c3", "locate"),
      { type: "round.close" },
    ),
  );
  for (const id of ["c1", "c2"])
    expect(desk.call(id)).toMatchObject({ outcome: "error", reason: "invalid_arguments" });
  expect(desk.call("c3").status).toBe("open");
});
