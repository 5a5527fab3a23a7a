import fc from "fast-check";
import type { CommandBody } from "@holdfast/protocol";
import type { Engine } from "../../src/engine/index.ts";
import { ANA, claimAttempt, send, type Attempt } from "../support/engine.ts";

/** What may happen in a session, as the tests of its audit play it. */
export type Happening =
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "call"; readonly text: string }
  | { readonly type: "answer" | "cancel"; readonly call: number; readonly text: string }
  | { readonly type: "tokens"; readonly text: string }
  | { readonly type: "policy" | "refused" | "advertise" | "export" };

const text = fc.string({ unit: "binary", maxLength: 12 });

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("say" as const), text }),
    fc.record({ type: fc.constant("call" as const), text }),
    fc.record({ type: fc.constant("tokens" as const), text }),
    fc.record({
      type: fc.constantFrom("answer" as const, "cancel" as const),
      call: fc.nat({ max: 3 }),
      text,
    }),
    fc.record({ type: fc.constantFrom("policy", "refused", "advertise", "export" as const) }),
  ),
  { minLength: 1, maxLength: 14 },
);

/** Lets things happen in session `s` of an engine, in order; whatever is refused is refused. */
export async function play(engine: Engine, all: readonly Happening[]): Promise<void> {
  await engine.create("s", { agent: "demo" }, ANA);
  let attempt: Attempt | undefined;
  let calls = 0;
  const agent = async () => (attempt ??= await start(engine));
  for (const happening of all) {
    switch (happening.type) {
      case "say":
        await tell(engine, { type: "message.send", messageId: newId(), content: happening.text });
        break;
      case "tokens":
        await (
          await agent()
        ).append({ type: "TEXT_MESSAGE_CONTENT", messageId: "open", delta: happening.text });
        break;
      case "call": {
        const toolCallId = `c${calls++}`;
        await (
          await agent()
        ).append(
          { type: "round.open" },
          { type: "TOOL_CALL_START", toolCallId, toolCallName: "ask" },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify({ text: happening.text }) },
          { type: "TOOL_CALL_END", toolCallId },
          { type: "round.close" },
        );
        break;
      }
      case "answer":
        await tell(engine, {
          type: "call.answer",
          callId: `c${happening.call}`,
          outcome: "ok",
          answer: { type: "text", text: happening.text },
        });
        break;
      case "cancel":
        await tell(engine, { type: "call.cancel", callId: `c${happening.call}`, reason: "no" });
        break;
      case "policy":
        await tell(engine, { type: "policy.set", policy: { whileActive: "queue" } });
        break;
      case "refused":
        await tell(engine, { type: "run.cancel", runId: "run_none" });
        break;
      case "advertise":
        await tell(engine, { type: "tools.advertise", tools: [{ name: "ask" }] });
        break;
      case "export":
        await linesIn(engine);
        break;
    }
  }
}

export async function linesIn(engine: Engine, after?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of await engine.trail.export("s", after)) lines.push(line);
  return lines;
}

let ids = 0;
const newId = () => `m${(ids += 1)}`;

async function tell(engine: Engine, body: CommandBody): Promise<void> {
  await send(engine, "s", body);
}

async function start(engine: Engine): Promise<Attempt> {
  await tell(engine, { type: "tools.advertise", tools: [{ name: "ask" }] });
  await tell(engine, { type: "message.send", messageId: newId(), content: "go" });
  const attempt = await claimAttempt(engine);
  await attempt.append({ type: "round.open" }, { type: "TEXT_MESSAGE_START", messageId: "open" });
  return attempt;
}
