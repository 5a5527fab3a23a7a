import type { Fence, Run, ToolDeclaration, Verdict } from "@holdfast/protocol";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import type { Phase } from "./run-cells.ts";

/** A desk whose run stands where a cell begins. */
export interface RunScene {
  readonly desk: Desk;
  readonly runId: string;
  readonly has: (word: string) => boolean;
  /** The run that was there first. */
  readonly first: string;
  /** The wake id of its latest start. */
  wakeId: string;
  /** The last batch the run's agent sent. */
  last?: { readonly command: Parameters<Desk["decide"]>[0]; readonly attempt: number };
  claimId?: string;
}

export function phaseOf(run: Run): Phase {
  return run.status === "queued" ? (run.behind.length > 0 ? "held" : "queued") : run.status;
}

/** Builds the desk for a cell. */
export function ready(phase: Phase, words: ReadonlySet<string>): RunScene {
  const has = (word: string) => words.has(word);
  const safe: ToolDeclaration = has("safe") ? { name: "job", retry: "safe" } : { name: "job" };
  const desk = openDesk({
    policy: { budget: { rounds: 8, repeats: 2 } },
    tools: [safe, { name: "page", executor: "client", deadlineMs: 100 }, TRANSFER],
  });
  const first = desk.send("m0");
  const runId = phase === "held" ? desk.send("m1") : desk.send("m1", { parentId: "m0" });
  const scene: RunScene = { desk, runId, has, first, wakeId: desk.run(runId).wakeId ?? "" };
  if (phase === "held") {
    if (has("behind two")) scene.desk.send("m2");
    const held = has("behind two")
      ? { ...scene, runId: desk.state.index.nodes.at(-1) ?? "" }
      : scene;
    return expectPhase(phase, held);
  }
  if (has("steered before")) {
    begin(scene);
    steer(scene);
    if (has("lost")) desk.timer({ type: "lease", runId, attempt: 1 });
    else {
      propose(scene, "early", "page");
      closeRound(scene);
      send(scene, "finish");
      answer(scene, "early");
    }
  } else if (has("released often")) {
    for (let left = MOST_RELEASES; left > 0; left -= 1) {
      begin(scene, false);
      send(scene, "release");
    }
    if (has("finished once")) finishOnce(scene);
  } else if (has("lost three times")) {
    lose(scene, 1);
    if (has("finished once")) finishOnce(scene);
    lose(scene, 2);
  } else if (has("lost") || has("older attempt")) lose(scene, 1);
  if (phase === "queued") return expectPhase(phase, scene);
  begin(scene, !has("steered before") && (!has("released often") || has("next round")));
  if (phase === "suspended" && !has("claimed call") && !has("gated call"))
    propose(scene, "page-call", "page");
  if (has("client call") && desk.state.calls.get("page-call") === undefined)
    propose(scene, "page-call", "page");
  if (has("gated call")) propose(scene, "gated-call", "transfer");
  if (has("claimed call")) {
    propose(scene, "job-call", "job");
    const claim = applied(desk.agent(runId).command({ type: "call.claim", callId: "job-call" }));
    scene.claimId = claim.claimId ?? "";
  }
  closeRound(scene);
  if (has("steered") && !has("approved")) steer(scene);
  if (phase === "suspended" || phase === "ended") send(scene, "finish");
  return expectPhase(phase, scene);
}

/** Once more is too often. */
const MOST_RELEASES = 20;

const TRANSFER: ToolDeclaration = { name: "transfer", approval: "always", approvalMs: 100 };

function expectPhase(phase: Phase, scene: RunScene): RunScene {
  const now = phaseOf(scene.desk.run(scene.runId));
  if (now !== phase) throw new Error(`The run is ${now}, not ${phase}`);
  return scene;
}

/** Starts the run and opens a round. */
export function begin(scene: RunScene, opens = true): void {
  const { desk, runId } = scene;
  scene.wakeId = desk.run(runId).wakeId ?? "";
  const { error } = desk.start(runId);
  if (error) throw new Error(error.message);
  if (opens) send(scene, "append");
}

/** A message for the run at work. */
export function steer({ desk, runId }: RunScene): void {
  desk.send("s1", { whileActive: "steer", parentId: runId });
}

function lose(scene: RunScene, times: number): void {
  for (let left = times; left > 0; left -= 1) {
    begin(scene);
    const { attempt } = scene.desk.run(scene.runId);
    scene.desk.timer({ type: "lease", runId: scene.runId, attempt });
  }
}

/** An attempt that finishes for a client's call, which is answered. */
function finishOnce(scene: RunScene): void {
  begin(scene);
  propose(scene, "early", "page");
  closeRound(scene);
  send(scene, "finish");
  answer(scene, "early");
}

export function propose({ desk, runId }: RunScene, callId: string, tool: string): void {
  applied(desk.agent(runId).append(...proposal(callId, tool)));
}

export function closeRound({ desk, runId }: RunScene): void {
  applied(desk.agent(runId).append({ type: "round.close" }));
}

export function answer({ desk }: RunScene, callId: string): Verdict {
  return applied(
    desk.user({
      type: "call.answer",
      callId,
      outcome: "ok",
      answer: { type: "json", value: null },
    }),
  );
}

/** A fenced command of the run's current attempt, remembered so that it can be repeated. */
export function send(
  scene: RunScene,
  what: "append" | "finish" | "fail" | "release" | "step.start",
  more: Partial<Fence> = {},
): Verdict {
  const { desk, runId } = scene;
  const attempt = more.attempt ?? desk.run(runId).attempt;
  const fence = { ...desk.agent(runId, attempt, more.producer).fence(), ...more };
  const body =
    what === "step.start"
      ? ({ type: "step.start", stepId: "s" } as const)
      : what === "append"
        ? ({ type: "run.append", items: [{ type: "round.open" }] } as const)
        : what === "finish"
          ? ({ type: "run.finish" } as const)
          : what === "release"
            ? ({ type: "run.release" } as const)
            : ({ type: "run.fail", error: { code: "broken", message: "Broken." } } as const);
  const command = { id: `${what}-${fence.seq}`, ...body, ...fence };
  const verdict = desk.decide(command, desk.env("agent:demo", { runId, attempt }));
  if (verdict.status === "applied") scene.last = { command, attempt };
  return verdict;
}
