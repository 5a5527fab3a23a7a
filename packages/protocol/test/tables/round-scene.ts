import type { AgentItem, Verdict } from "@holdfast/protocol";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";

/** A desk whose run has a round that stands where a cell begins. */
export interface RoundScene {
  readonly desk: Desk;
  readonly runId: string;
  /** Whether the round is one of step `s`. */
  readonly inStep: boolean;
  readonly round: number | undefined;
}

/** Builds the desk for a cell: a round is open, with a text and two calls, or it was just closed. */
export function arrangeRound(status: string, conditions: string, losses: number): RoundScene {
  const inStep = conditions.startsWith("in step");
  const words = conditions.replace(/^in step(?:, )?/, "");
  const desk = openDesk({ tools: [{ name: "job" }, { name: "page", executor: "client" }] });
  const runId = desk.send("m1");
  for (let left = losses; left > 0; left -= 1) {
    desk.start(runId);
    desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
  }
  desk.start(runId);
  const scene: RoundScene = { desk, runId, inStep, round: undefined };
  if (inStep) applied(desk.agent(runId).startStep("s"));
  append(
    scene,
    { type: "round.open" },
    { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "half a sen" },
    ...proposal("job-call", "job"),
    ...proposal("page-call", "page"),
  );
  const answer = { outcome: "ok", answer: { type: "text", text: "" } } as const;
  if (words === "kept") {
    applied(desk.user({ type: "call.answer", callId: "page-call", ...answer }));
  } else if (words === "answered by its agent") {
    append(scene, { type: "call.answer", callId: "job-call", ...answer });
  } else if (words.startsWith("claimed")) {
    const agent = desk.agent(runId);
    const { claimId = "" } = applied(agent.command({ type: "call.claim", callId: "job-call" }));
    if (words === "claimed once")
      applied(agent.command({ type: "call.release", callId: "job-call", claimId }));
  }
  const [round] = desk.run(runId).openRounds;
  if (status === "closed") append(scene, { type: "round.close" });
  applied(desk.agent(runId).startStep("other"));
  return { ...scene, round };
}

function append({ desk, runId, inStep }: RoundScene, ...items: AgentItem[]): Verdict {
  const agent = desk.agent(runId);
  return applied((inStep ? agent.step("s") : agent).append(...items));
}

/** What happens to the round, by the names of the rows. */
export const ROUND_TRIGGERS: Readonly<Record<string, (scene: RoundScene) => Verdict | undefined>> =
  {
    "the next round opens": (scene) => append(scene, { type: "round.open" }),
    "it is closed": (scene) => append(scene, { type: "round.close" }),
    "it is withdrawn": ({ desk, runId }) => desk.agent(runId).append({ type: "round.withdraw" }),
    "a round of another step opens": (scene) => open(scene, "other"),
    "a round of its step opens": (scene) => {
      if (!scene.inStep) applied(scene.desk.agent(scene.runId).startStep("s"));
      return open(scene, "s");
    },
    "a round of no step opens": ({ desk, runId }) =>
      applied(desk.agent(runId).append({ type: "round.open" })),
    "another step's round is withdrawn": (scene) => {
      open(scene, "other");
      return scene.desk.agent(scene.runId).step("other").append({ type: "round.withdraw" });
    },
    "its step ends": ({ desk, runId }) => desk.agent(runId).endStep("s"),
    "another step ends": ({ desk, runId }) => desk.agent(runId).endStep("other"),
    "its step starts again": ({ desk, runId }) => desk.agent(runId).startStep("s"),
    "its attempt finishes": ({ desk, runId }) => desk.agent(runId).finish(),
    "its attempt is lost": lose,
    "its run is cancelled": ({ desk, runId }) => desk.user({ type: "run.cancel", runId }),
    "its run is replaced"({ desk }) {
      desk.send("m2", { whileActive: "replace" });
      return undefined;
    },
    "its run fails": ({ desk, runId }) => desk.agent(runId).fail(),
    "its agent is given up": lose,
  };

function open({ desk, runId }: RoundScene, stepId: string): Verdict {
  return applied(desk.agent(runId).step(stepId).append({ type: "round.open" }));
}

function lose({ desk, runId }: RoundScene): undefined {
  desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
  return undefined;
}
