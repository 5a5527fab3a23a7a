import type { Command, ToolDeclaration } from "@holdfast/protocol";
import { enforceAgUiInput, INTERRUPT_TOOL, type AgUiInput } from "@holdfast/protocol/ag-ui";
import { expect } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../../../../protocol/test/support/desk.ts";
import { photograph } from "../../../../protocol/test/support/photograph.ts";
import { planPost } from "../../../src/faces/ag-ui/plan.ts";

const PAGE = { name: "page", executor: "client" } as const;
const PAY = { name: "pay", approval: "always" } as const;
const ASK = { name: INTERRUPT_TOOL, executor: "client" } as const;
export const TOOLS: readonly ToolDeclaration[] = [PAGE, PAY, ASK, { name: "look" }];

/** A session whose run `m1` proposed calls, by tool name, and finished. */
export function thread(
  calls: Record<string, string>,
  options: { args?: string; tools?: object } = {},
) {
  const tools = TOOLS.map((tool) => ({ ...tool, ...options.tools }));
  const desk = openDesk({ tools });
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  applied(
    agent.append(
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant" },
      { type: "TEXT_MESSAGE_END", messageId: "a1" },
      ...Object.entries(calls).flatMap(([id, name]) => proposal(id, name, options.args)),
      { type: "round.close" },
    ),
  );
  applied(agent.finish());
  return { desk, runId };
}

export function post(more: Partial<AgUiInput> = {}): AgUiInput {
  const { value } = enforceAgUiInput({ threadId: "s1", runId: "r1", messages: [], ...more });
  if (!value) throw new Error("The input is malformed.");
  return value;
}

export function plan(
  desk: Desk,
  input: Partial<AgUiInput>,
  may: (type: string) => boolean = () => true,
) {
  let ids = 0;
  const env = desk.env("user:ana");
  const before = photograph(desk.state);
  const made = planPost(post(input), desk.state, {
    now: desk.now(),
    digest: (text) => env.digest(text),
    admit: (body) => {
      if (!may(body.type)) return { refused: { code: "forbidden", message: body.type } };
      return { command: { id: `p${(ids += 1)}`, ...body } as Command };
    },
    maySend: may("message.send"),
  });
  expect(photograph(desk.state)).toEqual(before);
  return made;
}

/** What a plan says, without the request that ends it. */
export function said(desk: Desk, input: Partial<AgUiInput>) {
  const made = plan(desk, input);
  if ("refused" in made) return made.refused.code;
  return made.steps.map(({ command: { id: _, ...body }, late }) =>
    body.type === "run.request" ? { request: body.of } : late ? { late: body } : body,
  );
}

export const user = (id: string, content: string) => ({ id, role: "user" as const, content });
export const tool = (callId: string, content: string, more: object = {}) => ({
  id: `t-${callId}`,
  role: "tool" as const,
  toolCallId: callId,
  content,
  ...more,
});
export const calls = (...ids: string[]) => ({
  id: "a1",
  role: "assistant" as const,
  toolCalls: ids.map((id) => ({
    id,
    type: "function" as const,
    function: {
      name: "page",
      arguments: "{}",
    },
  })),
});
export const answer = (callId: string, text: string, more: object = {}) => ({
  type: "call.answer",
  callId,
  answer: {
    type: "text",
    text,
  },
  outcome: "ok",
  messageId: `t-${callId}`,
  ...more,
});
export const send = (messageId: string, content: unknown) => ({
  type: "message.send",
  messageId,
  content,
});
