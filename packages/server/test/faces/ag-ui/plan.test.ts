import { decide, type ErrorCode } from "@holdfast/protocol";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, openDesk, type Desk } from "../../../../protocol/test/support/desk.ts";
import { calls, plan, said, send, thread, tool, user } from "./planning.ts";

describe("12.2.5 user messages", () => {
  const fresh = () => openDesk();
  const rest = () => {
    const { desk, runId } = thread({});
    expect(desk.run(runId).status).toBe("ended");
    return desk;
  };
  it.each<[string, () => Desk, AgUiInput["messages"], unknown]>([
    ["the first", fresh, [user("m", "hi")], send("m", "hi")],
    ["several are one", fresh, [user("m", "hi"), user("n", "there")], send("n", "hi\n\nthere")],
    [
      "with parts",
      fresh,
      [user("m", "hi"), { id: "n", role: "user", content: [{ type: "text", text: "x" }] }],
      send("n", [
        { type: "text", text: "hi" },
        { type: "text", text: "x" },
      ]),
    ],
    [
      "a history from elsewhere",
      fresh,
      [user("m", "1"), { id: "x", role: "assistant", content: "2" }, user("n", "3")],
      send("n", "3"),
    ],
    [
      "behind what is known",
      rest,
      [user("m1", "other"), calls(), user("m2", "2")],
      send("m2", "2"),
    ],
    [
      "an assistant's that nobody said is no end",
      rest,
      [user("m1", "m1"), user("m2", "2"), { id: "x", role: "assistant", content: "forged" }],
      send("m2", "2"),
    ],
    [
      "whoever else speaks says nothing in the session",
      rest,
      [
        { id: "s", role: "system", content: "obey" },
        { id: "d", role: "developer", content: "obey" },
        user("m2", "2"),
      ],
      send("m2", "2"),
    ],
  ])("%s", (_, make, messages, expected) => {
    expect(said(make(), { messages })).toEqual([
      expected,
      { request: { messageId: (expected as { messageId: string }).messageId } },
    ]);
  });

  it.each<[string, () => Desk, AgUiInput["messages"], ErrorCode]>([
    ["none at all", fresh, [], "invalid_request"],
    ["only what is known", rest, [user("m1", "m1"), calls()], "run_ended"],
  ])("%s is refused", (_, make, messages, code) => {
    expect(said(make(), { messages })).toBe(code);
  });

  it("nothing new asks for what is under way", () => {
    const desk = openDesk();
    const runId = desk.send("m1");
    expect(said(desk, { messages: [user("m1", "m1")] })).toEqual([{ request: { runId } }]);
  });
});

describe("12.2.2 tools", () => {
  const locate = { name: "locate", description: "where", parameters: { type: "object" } };
  const messages = [user("m", "hi")];
  it("are advertised where they are new or changed", () => {
    const desk = openDesk();
    const advertise = (tools: object[]) => ({ type: "tools.advertise", tools });
    const first = said(desk, { messages, tools: [locate] });
    expect(first).toEqual([advertise([locate]), send("m", "hi"), { request: { messageId: "m" } }]);
    applied(desk.user(advertise([locate]) as never));
    expect(said(desk, { messages, tools: [locate] })).toHaveLength(2);
    const changed = { ...locate, parameters: { type: "object", required: ["x"] } };
    const both = said(desk, { messages, tools: [locate, { ...locate, name: "new" }, changed] });
    expect(both).toContainEqual(advertise([changed, { ...locate, name: "new" }]));
  });
});

describe("12.1 the request", () => {
  const messages = [user("m1", "hi")];
  const requested = (desk: Desk, input: Partial<AgUiInput>) => {
    const made = plan(desk, input);
    if ("refused" in made) throw new Error(made.refused.code);
    return made.steps.map(({ command }) =>
      applied(decide(desk.draft, command, desk.env("user:ana"))),
    );
  };
  it("the same again changes nothing, from a client of any version; another is refused", () => {
    const desk = openDesk();
    const [, first] = requested(desk, { messages });
    const { head } = desk.state;
    expect(requested(desk, { messages, protocolVersion: "1.0" })).toEqual([
      expect.objectContaining({ repeated: true, runId: first?.runId }),
    ]);
    expect(desk.state.head).toBe(head);
    expect(() => requested(desk, { messages: [user("m9", "hi")] })).toThrow("key_reused");
  });

  it("brings what the agent is told, from whoever may speak to it", () => {
    const desk = openDesk();
    const instructions: AgUiInput["messages"] = [
      { id: "s", role: "system", content: "Be brief." },
      { id: "d", role: "developer", content: "Be kind." },
    ];
    const input = {
      messages: [...instructions, ...messages],
      state: { a: 1 },
      context: [
        {
          description: "d",
          value: "v",
        },
      ],
      forwardedProps: { b: 2 },
      parentRunId: "p",
    };
    const [, { runId = "" } = {}] = requested(desk, input);
    const { state, context, forwardedProps, parentRunId } = input;
    expect(desk.run(runId).input).toEqual({
      state,
      context,
      forwardedProps,
      parentRunId,
      instructions,
    });
  });

  it("from somebody who only answers brings nothing to the agent", () => {
    const { desk } = thread({ c1: "page" });
    const input = { messages: [tool("c1", "x")], state: { a: 1 } };
    const made = plan(desk, input, (type) => type !== "message.send");
    const last = "steps" in made ? made.steps.at(-1)?.command : undefined;
    expect(last).toMatchObject({ type: "run.request", of: { callId: "c1" } });
    expect(last).not.toHaveProperty("input");
  });

  it("what its sender may not say refuses all of it", () => {
    const desk = openDesk();
    const made = plan(desk, { messages }, (type) => type !== "message.send");
    expect("refused" in made && made.refused.code).toBe("forbidden");
  });
});
