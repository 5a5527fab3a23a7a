import type { AgentItem, Verdict } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import { ROUND_CELLS } from "./round-cells.ts";

interface Scene {
  readonly desk: Desk;
  readonly runId: string;
  /** Whether the round is one of step `s`. */
  readonly inStep: boolean;
}

const CELLS = Object.entries(ROUND_CELLS).flatMap(([trigger, row]) =>
  Object.entries(row).flatMap(([status, cell]) =>
    Object.entries(cell).map(([words, expected]) => ({ trigger, status, words, expected })),
  ),
);
const reached = new Set<string>();

describe("5.4 every cell of the round table", () => {
  for (const { trigger, status, words, expected } of CELLS) {
    it(`${trigger}, ${status} (${words}): ${expected}`, () => {
      const scene = arrange(words, trigger === "its agent is given up" ? 3 : 0);
      const { desk, runId } = scene;
      const [round] = desk.run(runId).openRounds;
      if (status === "closed") append(scene, { type: "round.close" });
      desk.agent(runId).startStep("other");
      const texts = () => [...desk.state.items.values()].filter((item) => item.round === round);
      const before = texts().length;
      const act = TRIGGERS[trigger];
      if (!act) throw new Error(`Nothing drives ${trigger}`);
      const verdict = act(scene);
      const { code } = verdict?.error ?? verdict?.skipped?.[0]?.error ?? {};
      if (expected.startsWith("! ")) {
        expect(code).toBe(expected.slice(2));
        expect(desk.run(runId).openRounds).toEqual(status === "open" ? [round] : []);
      } else {
        expect(code).toBeUndefined();
        expect(desk.run(runId).openRounds.includes(round ?? 0)).toBe(expected === "open");
        expect(texts()).toHaveLength(expected === "superseded" ? 0 : before);
        const open = texts().filter((item) => "status" in item && item.status === "open");
        expect(open).toHaveLength(expected === "open" ? before : 0);
      }
      reached.add(`${trigger}|${status}|${words}`);
    });
  }

  it("was reached", () => expect(reached.size).toBe(CELLS.length));
});

function arrange(conditions: string, losses: number): Scene {
  const inStep = conditions.startsWith("in step");
  const words = conditions.replace(/^in step(?:, )?/, "");
  const desk = openDesk({ tools: [{ name: "job" }, { name: "page", executor: "client" }] });
  const runId = desk.send("m1");
  for (let left = losses; left > 0; left -= 1) {
    desk.start(runId);
    desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
  }
  desk.start(runId);
  const scene = { desk, runId, inStep };
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
  return scene;
}

function append({ desk, runId, inStep }: Scene, ...items: AgentItem[]): Verdict {
  const agent = desk.agent(runId);
  return applied((inStep ? agent.step("s") : agent).append(...items));
}

const TRIGGERS: Readonly<Record<string, (scene: Scene) => Verdict | undefined>> = {
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

function open({ desk, runId }: Scene, stepId: string): Verdict {
  return applied(desk.agent(runId).step(stepId).append({ type: "round.open" }));
}

function lose({ desk, runId }: Scene): undefined {
  desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
  return undefined;
}
