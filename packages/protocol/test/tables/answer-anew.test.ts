import type { Verdict } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import { ANEW_CELLS } from "./step-cells.ts";

interface Scene {
  readonly desk: Desk;
  readonly runId: string;
  readonly has: (word: string) => boolean;
}

describe("5.7.6 an answer whose step is started again", () => {
  for (const [words, expected] of Object.entries(ANEW_CELLS)) {
    it(`${words}: ${expected}`, () => {
      const scene = arrange(words.split(", "));
      const { desk } = scene;
      const before = desk.call("k");
      const verdict = words === "nothing more" ? undefined : answerAnew(scene);
      const refusal = verdict?.error ?? verdict?.skipped?.[0]?.error;
      const call = desk.call("k");
      const answers = desk.entries.filter(({ event }) => event.type.startsWith("call.answer"));
      expect(call.status).toBe("settled");
      if (expected !== "replaced") {
        expect(refusal?.code).toBe(expected === "stands" ? undefined : expected.slice(2));
        expect(call).toBe(before);
        return expect(answers).toHaveLength(1);
      }
      expect(refusal).toBeUndefined();
      expect(answers.map(({ event }) => event.type)).toEqual([
        "call.answered",
        "call.answer_replaced",
      ]);
      expect(call.answer).toMatchObject({
        messageId: before.answer?.messageId,
        answer: { type: "text", text: scene.has("with error") ? "first" : "second" },
        stepAttempt: scene.has("third attempt") ? 3 : 2,
      });
      expect(call.outcome).toBe(scene.has("with error") || scene.has("declined") ? "error" : "ok");
      expect(call.reason).toBe(scene.has("declined") ? "declined" : undefined);
      expect(call.withdrawn).toBeUndefined();
    });
  }
});

it("5.7.6 a step of another run replaces nothing, whatever it is called and whichever claim it names", () => {
  const desk = openDesk({ tools: [{ name: "job" }] });
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  applied(agent.startStep("s"));
  applied(agent.append({ type: "round.open" }, ...proposal("k", "job")));
  const { claimId = "" } = applied(agent.command({ type: "call.claim", callId: "k" }));
  applied(agent.step("s").append({ ...answer("first", {}), claimId }));
  const otherId = desk.send("m2", { whileActive: "concurrent" });
  desk.start(otherId);
  const other = desk.agent(otherId);
  applied(other.startStep("s"));
  applied(other.startStep("s"));
  const verdict = other.step("s").append({ ...answer("second", {}), claimId });
  expect(verdict.skipped?.[0]?.error.code).toBe("already_answered");
  expect(desk.call("k").answer?.answer).toEqual({ type: "text", text: "first" });
});

/** Step `s` answered, was started again, and whatever the words say happened. */
function arrange(words: readonly string[]): Scene {
  const has = (word: string) => words.includes(word);
  const tool = has("first without approval") ? ({ approval: "always" } as const) : {};
  const desk = openDesk({ tools: [{ name: "job", ...tool }] });
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  const propose = [{ type: "round.open" } as const, ...proposal("k", "job")];
  if (!has("proposed in the step")) applied(agent.append(...propose));
  applied(agent.startStep("s"));
  if (has("proposed in the step")) applied(agent.step("s").append(...propose));
  applied(agent.step("s").append(answer("first", { declined: has("first declined") })));
  if (has("read by itself")) applied(agent.step("s").append({ type: "round.open" }));
  if (has("by the same attempt")) return { desk, runId, has };
  if (has("in the next run attempt")) {
    desk.timer({ type: "lease", runId, attempt: 1 });
    desk.start(runId);
  }
  const now = desk.agent(runId);
  applied(now.startStep("s"));
  if (has("third attempt")) applied(now.startStep("s"));
  if (has("read")) applied(now.append({ type: "round.open" }));
  applied(now.startStep("other"));
  if (has("read by another step")) applied(now.step("other").append({ type: "round.open" }));
  return { desk, runId, has };
}

function answerAnew({ desk, runId, has }: Scene): Verdict {
  const agent = desk.agent(runId);
  const appender = has("by no step") ? agent : agent.step(has("by another step") ? "other" : "s");
  const again = has("with the same") || has("with error");
  const outcome = has("with error") ? "error" : "ok";
  return appender.append(
    answer(again ? "first" : "second", { outcome, declined: has("declined") }),
  );
}

function answer(
  text: string,
  { outcome = "ok", declined = false }: { outcome?: "ok" | "error"; declined?: boolean },
) {
  return {
    type: "call.answer",
    callId: "k",
    outcome,
    answer: { type: "text", text },
    ...(declined && { declined }),
  } as const;
}
