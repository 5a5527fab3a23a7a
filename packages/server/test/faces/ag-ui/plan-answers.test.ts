import { decide } from "@holdfast/protocol";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../../../../protocol/test/support/desk.ts";
import { answer, calls, plan, said, send, thread, tool, TOOLS, user } from "./planning.ts";

describe("12.2.3 answers", () => {
  it.each<[string, object, object]>([
    ["text", {}, {}],
    [
      "text that looks like JSON",
      { content: '{"a":1}' },
      { answer: { type: "text", text: '{"a":1}' } },
    ],
    ["empty text", { content: "" }, { answer: { type: "text", text: "" } }],
    [
      "parts",
      { content: [{ type: "text", text: "x" }] },
      { answer: { type: "parts", parts: [{ type: "text", text: "x" }] } },
    ],
    [
      "an error",
      { content: "", error: "no signal" },
      {
        outcome: "error",
        answer: { type: "text", text: "no signal" },
        metadata: { "ag-ui": { error: "no signal" } },
      },
    ],
    [
      "an error whose words say declined",
      { content: "declined", error: "" },
      {
        outcome: "error",
        answer: { type: "text", text: "declined" },
        metadata: { "ag-ui": { error: "" } },
      },
    ],
    [
      "a decline",
      { content: "no", error: "no", metadata: { holdfast: { declined: true }, app: 1 } },
      {
        outcome: "error",
        declined: true,
        answer: { type: "text", text: "no" },
        metadata: { app: 1, "ag-ui": { error: "no" } },
      },
    ],
    ["a decline that is no error", { metadata: { holdfast: { declined: true } } }, {}],
    ["an id that is taken", { id: "m1" }, { messageId: undefined }],
  ])("%s", (_, more, expected) => {
    const { desk } = thread({ c1: "page" });
    const { messageId, ...rest } = { ...answer("c1", "here"), ...expected } as Record<
      string,
      unknown
    >;
    expect(said(desk, { messages: [calls("c1"), tool("c1", "here", more)] })).toEqual([
      { ...rest, ...(messageId !== undefined && { messageId }) },
      { request: { callId: "c1" } },
    ]);
  });

  it("the first for a call counts, wherever it stands", () => {
    const { desk } = thread({ c1: "page", c2: "page" });
    const second = { ...calls("c2"), id: "a2" };
    const messages = [
      calls("c1"),
      tool("c1", "1"),
      second,
      tool("c2", "2"),
      tool("c1", "other", { id: "t3" }),
    ];
    expect(said(desk, { messages })).toEqual([
      answer("c1", "1"),
      answer("c2", "2"),
      { request: { callId: "c1" } },
    ]);
  });

  it("goes before the message that comes with it", () => {
    const { desk } = thread({ c1: "page" });
    const messages = [calls("c1"), tool("c1", "1"), user("m2", "and")];
    expect(said(desk, { messages })).toEqual([
      answer("c1", "1"),
      send("m2", "and"),
      { request: { messageId: "m2" } },
    ]);
  });
});

describe("12.2.4 what the session would refuse", () => {
  const refusedBy = (desk: Desk, input: Partial<AgUiInput>) => {
    const made = plan(desk, input);
    if ("refused" in made) return made.refused.code;
    return made.steps.map(
      ({ command }) => decide(desk.draft, command, desk.env("user:ana")).error?.code,
    );
  };
  const answered = () => {
    const { desk } = thread({ c1: "page" });
    applied(desk.user({ ...answer("c1", "first"), type: "call.answer", outcome: "ok" } as never));
    return desk;
  };
  const cancelled = () => {
    const { desk } = thread({ c1: "page" });
    applied(desk.user({ type: "call.cancel", callId: "c1" }));
    return desk;
  };
  it.each<[string, () => Desk, AgUiInput["messages"], unknown]>([
    [
      "another's answer stands",
      answered,
      [tool("c1", "second", { id: "t" })],
      ["already_answered"],
    ],
    ["it was cancelled", cancelled, [tool("c1", "late")], ["call_settled"]],
    [
      "the agent's own call",
      () => thread({ c1: "look" }).desk,
      [tool("c1", "forged")],
      "run_ended",
    ],
    ["a call that nobody made", () => thread({}).desk, [tool("c9", "forged")], ["unknown_call"]],
  ])("alone is refused for it: %s", (_, make, messages, codes) => {
    expect(refusedBy(make(), { messages: [calls(), ...messages] })).toEqual(codes);
  });

  it.each<[string, () => Desk, AgUiInput["messages"]]>([
    ["another's answer stands", answered, [tool("c1", "second", { id: "t" })]],
    ["it was cancelled", cancelled, [tool("c1", "late")]],
    ["a call that nobody made", () => thread({}).desk, [tool("c9", "forged")]],
  ])("does not keep a message back: %s", (_, make, messages) => {
    const steps = said(make(), { messages: [calls(), ...messages, user("m2", "next")] });
    expect(steps).toEqual([
      { late: expect.objectContaining({ type: "call.answer" }) },
      send("m2", "next"),
      { request: { messageId: "m2" } },
    ]);
  });

  it("alone is refused for it: a call of the agent's side that goes on", () => {
    const desk = openDesk({ tools: [...TOOLS] });
    const runId = desk.send("m1");
    desk.start(runId);
    applied(desk.agent(runId).append({ type: "round.open" }, ...proposal("c1", "look")));
    const forged = [calls("c1"), tool("c1", "forged")];
    expect(refusedBy(desk, { messages: forged })).toEqual(["not_executor"]);
  });

  it.each<[string, object]>([
    ["its id", { content: "other" }],
    ["what it says", { id: "another" }],
  ])("a settled call is known by %s", (_, more) => {
    const messages = [calls("c1"), tool("c1", "first", more), user("m2", "next")];
    expect(said(answered(), { messages })).toEqual([
      send("m2", "next"),
      { request: { messageId: "m2" } },
    ]);
  });
});
