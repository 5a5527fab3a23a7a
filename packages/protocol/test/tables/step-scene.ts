import type { Verdict } from "@holdfast/protocol";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import type { StepStatus } from "./step-cells.ts";

/** A desk whose run has a step `s` that stands where a cell begins. */
export interface StepScene {
  readonly desk: Desk;
  readonly runId: string;
  readonly has: (word: string) => boolean;
  /** The batches of the step that were taken. */
  readonly taken: Command[];
}

type Command = Parameters<Desk["decide"]>[0];

/** Builds the desk for a cell. */
export function arrangeStep(status: StepStatus, words: ReadonlySet<string>): StepScene {
  const has = (word: string) => words.has(word);
  const desk = openDesk({ tools: [{ name: "job" }, { name: "page", executor: "client" }] });
  desk.onCommand = (command, _, verdict) => {
    if (verdict.status !== "applied" || verdict.repeated || !("seq" in command)) return;
    if ("stepId" in command) scene.taken.push(command);
  };
  const runId = desk.send("m1");
  const scene: StepScene = { desk, runId, has, taken: [] };
  if (has("older run attempt")) {
    desk.start(runId);
    lose(scene);
  }
  desk.start(runId);
  applied(desk.agent(runId).append({ type: "round.open" }, ...proposal("early", "job")));
  if (has("beside another")) applied(desk.agent(runId).startStep("other"));
  if (status !== "none") work(scene);
  if (has("started twice")) work(scene);
  if (has("answer read by itself")) applied(step(scene).append({ type: "round.open" }));
  if (status === "ended") applied(desk.agent(runId).endStep("s"));
  if (has("answer read")) applied(desk.agent(runId).append({ type: "round.open" }));
  if (has("answer behind the barrier")) passBarrier(scene);
  if (has("in the next run attempt")) {
    lose(scene);
    desk.start(runId);
  }
  if (has("run suspended")) {
    applied(desk.agent(runId).append({ type: "round.open" }, ...proposal("pg", "page")));
    applied(desk.agent(runId).finish());
  }
  if (has("run ended")) applied(desk.user({ type: "run.cancel", runId }));
  return scene;
}

/** Starts the step, which begins a round and says something; one that was asked about its answers gives one. */
function work(scene: StepScene): void {
  const { desk, runId } = scene;
  applied(desk.agent(runId).startStep("s"));
  applied(step(scene).append({ type: "round.open" }));
  if (!["answer read", "answer read by itself", "answer behind the barrier"].some(scene.has))
    return;
  const answer = { outcome: "ok", answer: { type: "text", text: "" } } as const;
  applied(step(scene).append({ type: "call.answer", callId: "early", ...answer }));
}

/** The run waits for a client, and goes on. */
function passBarrier({ desk, runId }: StepScene): void {
  applied(desk.agent(runId).append(...proposal("pg", "page")));
  applied(desk.agent(runId).finish());
  const answer = { outcome: "ok", answer: { type: "text", text: "" } } as const;
  applied(desk.user({ type: "call.answer", callId: "pg", ...answer }));
  desk.start(runId);
}

function step({ desk, runId }: StepScene) {
  return desk.agent(runId).step("s");
}

function lose({ desk, runId }: StepScene): undefined {
  desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
}

/** What happens to the step, by the names of the rows. */
export const STEP_TRIGGERS: Readonly<Record<string, (scene: StepScene) => Verdict | undefined>> = {
  "step.start": (scene) => send(scene, { type: "step.start" }),
  "step.end": (scene) => send(scene, { type: "step.end" }),
  append: (scene) => send(scene, { type: "run.append", items: [{ type: "round.open" }] }),
  "another starts": ({ desk, runId }) => applied(desk.agent(runId).startStep("other")),
  "attempt finishes": ({ desk, runId }) => desk.agent(runId).finish(),
  "attempt is lost": lose,
  "run is cancelled": ({ desk, runId }) => desk.user({ type: "run.cancel", runId }),
  "run is replaced": ({ desk }) => void desk.send("m2", { whileActive: "replace" }),
  "run fails": ({ desk, runId }) => desk.agent(runId).fail(),
};

/** The command for the step, as the words have it. */
function send(
  { desk, runId, has, taken }: StepScene,
  body:
    | { type: "step.start" | "step.end" }
    | { type: "run.append"; items: [{ type: "round.open" }] },
): Verdict {
  const attempt = has("older run attempt") ? 1 : desk.run(runId).attempt;
  const actor = has("person") ? desk.env("user:ana") : desk.env("agent:demo", { runId, attempt });
  if (has("repeat")) {
    const repeated = has("older step attempt")
      ? taken.find((it) => it.type === "run.append" && it.stepAttempt === 1)
      : taken.findLast((it) => it.type === "step.start" || body.type !== "step.start");
    if (!repeated) throw new Error("Nothing to repeat");
    return desk.decide(repeated, actor);
  }
  const producer = has("other producer") ? "second" : "main";
  const stepAttempt = has("older step attempt")
    ? 1
    : (desk.run(runId).steps?.find(({ id }) => id === "s")?.attempt ?? 1);
  const fence = desk.agent(runId, attempt, producer).fence();
  const seq = has("hole") ? 99 : fence.seq;
  const named = body.type === "step.start" ? { stepId: "s" } : { stepId: "s", stepAttempt };
  return desk.command({ ...body, ...fence, seq, ...named } as Parameters<Desk["user"]>[0], actor);
}
