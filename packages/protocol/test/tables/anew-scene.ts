import type { Verdict } from "@holdfast/protocol";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";

/** A desk where step `s` answered call `k`. */
export interface AnewScene {
  readonly desk: Desk;
  readonly runId: string;
  readonly has: (word: string) => boolean;
}

/** Step `s` answered, was started again, and whatever the words say happened. */
export function arrangeAnew(words: readonly string[]): AnewScene {
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

/** The newer attempt of the step answers, or whoever the words say. */
export function answerAnew({ desk, runId, has }: AnewScene): Verdict {
  const agent = desk.agent(runId);
  const appender = has("by no step") ? agent : agent.step(has("by another step") ? "other" : "s");
  const again = has("with the same") || has("with error");
  const outcome = has("with error") ? "error" : "ok";
  return appender.append(
    answer(again ? "first" : "second", { outcome, declined: has("declined") }),
  );
}

/** An answer to the call. */
export function answer(
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
