import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";
import { answer, answerAnew, arrangeAnew } from "./anew-scene.ts";
import { ANEW_CELLS } from "./step-cells.ts";

describe("5.7.6 an answer whose step is started again", () => {
  for (const [words, expected] of Object.entries(ANEW_CELLS)) {
    it(`${words}: ${expected}`, () => {
      const scene = arrangeAnew(words.split(", "));
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
