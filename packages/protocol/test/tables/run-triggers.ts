import type { Rejection, RunFailure, Verdict } from "@holdfast/protocol";
import { applied, proposal } from "../support/desk.ts";
import { answer, closeRound, propose, send, steer, type RunScene } from "./run-scene.ts";

/** What a trigger led to, as far as its maker is told. */
export interface Happened {
  readonly error?: Rejection | undefined;
  readonly runId?: string;
  /** The error that the command ended its run in. */
  readonly ended?: RunFailure;
}

const HOUR = 3_600_000;

type Act = (scene: RunScene) => Happened | undefined;

/** What happens to the run, by the names of the rows. */
export const RUN_TRIGGERS: Readonly<Record<string, Act>> = {
  start({ desk, runId, has, wakeId }) {
    const same = has("same wake") ? wakeId : (desk.run(runId).wakeId ?? "none");
    const worker = has("other worker") ? "w2" : "w1";
    return desk.start(runId, { worker, wakeId: has("wrong wake") ? "wrong" : same });
  },
  append: (scene) => fenced(scene, "append"),
  heartbeat({ desk, runId, has }) {
    const attempt = has("older attempt") ? 1 : desk.run(runId).attempt;
    const actor = has("person") ? desk.env("user:ana") : desk.env("agent:demo", { runId, attempt });
    return desk.command({ type: "run.heartbeat", runId, attempt }, actor);
  },
  hold({ desk, runId, has }) {
    const attempt = has("older attempt") ? 1 : desk.run(runId).attempt;
    const actor = has("person") ? desk.env("user:ana") : desk.env("agent:demo", { runId, attempt });
    const hold = (hours: number) => {
      const until = desk.now() + hours * HOUR;
      return desk.command({ type: "run.heartbeat", runId, attempt, until }, actor);
    };
    if (has("held for longer")) applied(hold(20));
    if (has("held for less")) applied(hold(5));
    return hold(has("for ever") ? 1_000 : has("up to now") ? 0 : 10);
  },
  finish(scene) {
    prepare(scene);
    return fenced(scene, "finish");
  },
  fail: (scene) => fenced(scene, "fail"),
  release: (scene) => fenced(scene, "release"),
  "step.start": (scene) => fenced(scene, "step.start"),
  "one round too many"(scene) {
    for (let left = roundsLeft(scene); left > 0; left -= 1) send(scene, "append");
    return openRound(scene);
  },
  "one repeat too many": repeatOnce,
  "round opens"(scene) {
    prepare(scene, false);
    return openRound(scene);
  },
  "lease expires"({ desk, runId, has }) {
    const attempt = has("older attempt") ? 1 : desk.run(runId).attempt;
    desk.timer({ type: "lease", runId, attempt });
    return undefined;
  },
  "its worker was gone at the grant"({ desk, runId, has }) {
    const attempt = has("older attempt") ? 1 : desk.run(runId).attempt;
    desk.timer({ type: "left", runId, attempt });
    return undefined;
  },
  "last call answered"(scene) {
    const { desk, runId, claimId } = scene;
    if (claimId === undefined) return answer(scene, "page-call");
    const body = {
      type: "call.answer",
      callId: "job-call",
      claimId,
      outcome: "ok",
      answer: { type: "text", text: "" },
    } as const;
    return desk.agent(runId).command(body);
  },
  "last call approved": (scene) => decide(scene, true),
  "last call denied": (scene) => decide(scene, false),
  "last call cancelled": ({ desk }) => desk.user({ type: "call.cancel", callId: "page-call" }),
  "last call expires"({ desk, has }) {
    desk.tick(1_000);
    if (has("gated call")) desk.timer({ type: "approval", callId: "gated-call" });
    else desk.timer({ type: "deadline", callId: "page-call" });
    return undefined;
  },
  "last claim expires"({ desk, claimId = "" }) {
    desk.timer({ type: "claim", callId: "job-call", claimId });
    return undefined;
  },
  "one of two calls answered": (scene) => answer(scene, "page-call"),
  "a run before it ends": ({ desk, first }) => desk.user({ type: "run.cancel", runId: first }),
  cancel: ({ desk, runId }) => desk.user({ type: "run.cancel", runId }),
  "message, queue": (scene) => message(scene, "queue"),
  "message, refuse": (scene) => message(scene, "refuse"),
  "message, replace": (scene) => message(scene, "replace"),
  "message, concurrent": (scene) => message(scene, "concurrent"),
  "message, steer": (scene) => message(scene, "steer"),
};

/** Rounds that the run may open still. */
function roundsLeft({ desk, runId }: RunScene): number {
  const { status, round } = desk.run(runId);
  return status === "active" ? desk.state.session.policy.budget.rounds - round : 0;
}

function openRound({ desk, runId, has }: RunScene): Happened {
  const agent = desk.agent(runId);
  if (has("in a step")) applied(agent.startStep("s"));
  const named = has("naming it") ? ["s1"] : has("naming none") ? [] : undefined;
  const open = { type: "round.open", ...(named && { steers: named }) } as const;
  return told((has("in a step") ? agent.step("s") : agent).append(open));
}

/** A batch of which all must be taken, or nothing. */
function told(verdict: Verdict): Happened {
  const error = verdict.error ?? verdict.skipped?.[0]?.error;
  return { ...verdict, ...(error && { error }) };
}

/** Two calls of the same arguments are the run's budget; the third is one too many. */
function repeatOnce(scene: RunScene): Happened {
  const { desk, runId, has } = scene;
  const agent = desk.agent(runId);
  const args = '{"a":1,"b":[2]}';
  if (desk.run(runId).status === "active") {
    applied(agent.append({ type: "round.open" }, ...proposal("r1", "job", args)));
    if (has("one taken back"))
      applied(agent.append({ type: "round.withdraw" }, { type: "round.open" }));
    applied(agent.append(...proposal("r2", "job", args)));
  }
  const last = has("other spacing") ? '{ "b": [2], "a": 1 }' : has("other arguments") ? "{}" : args;
  return told(agent.append(...proposal("r3", has("other tool") ? "page" : "job", last)));
}

function fenced(scene: RunScene, what: Parameters<typeof send>[1]): Verdict {
  const { desk, runId, has, last } = scene;
  if (has("repeat")) {
    if (!last) throw new Error("Nothing to repeat");
    const { command, attempt } = last;
    if (
      desk.run(runId).status === "active" &&
      (what === "finish" || what === "fail" || what === "release")
    )
      return send(scene, what, { seq: 1, attempt });
    return desk.decide(command, desk.env("agent:demo", { runId, attempt }));
  }
  if (has("hole")) return send(scene, what, { seq: 99 });
  if (has("older attempt")) return send(scene, what, { attempt: 1 });
  if (has("other producer")) return send(scene, what, { producer: "second" });
  if (!has("other run") && !has("person")) return send(scene, what);
  const body = { type: "run.append", ...desk.agent(runId).fence(), items: [] } as const;
  const { first } = scene;
  const actor = has("person") ? undefined : { runId: first, attempt: 1 };
  return desk.command(body, desk.env("user:ana", actor));
}

/** What became of the attempt's calls before it finishes. */
function prepare(scene: RunScene, goesOn = true): void {
  const { desk, runId, has } = scene;
  const agent = desk.agent(runId);
  if (has("answered by a client")) {
    act(scene, "page", (callId) => answer(scene, callId));
  } else if (has("answered by the agent")) {
    const done = { outcome: "ok", answer: { type: "text", text: "" } } as const;
    act(scene, "job", (callId) => agent.append({ type: "call.answer", callId, ...done }));
  } else if (has("approved") || has("denied")) {
    act(scene, "transfer", () => decide(scene, has("approved"), "x"));
  } else if (has("cancelled")) {
    act(scene, "page", (callId) => desk.user({ type: "call.cancel", callId }));
  }
  if (has("steered") && has("approved")) steer(scene);
  if (!goesOn) return;
  if (has("next round")) applied(agent.append({ type: "round.open" }));
  const done = { outcome: "ok", answer: { type: "text", text: "" } } as const;
  if (has("executed")) applied(agent.append({ type: "call.answer", callId: "x", ...done }));
  if (has("withdrawn")) applied(agent.append({ type: "round.withdraw" }));
}

function act(scene: RunScene, tool: string, then: (callId: string) => Verdict): void {
  const { desk, runId } = scene;
  applied(desk.agent(runId).append({ type: "round.open" }));
  propose(scene, "x", tool);
  closeRound(scene);
  applied(then("x"));
}

function decide({ desk }: RunScene, approved: boolean, callId = "gated-call"): Verdict {
  const approvalId = desk.call(callId).approval?.id ?? "";
  return desk.user({ type: "call.decide", callId, approvalId, approved });
}

function message({ desk, runId, has }: RunScene, whileActive: string): Verdict {
  const whilePending = has("pending queue")
    ? "queue"
    : has("pending refuse")
      ? "refuse"
      : "abandon";
  const parentId = has("another behind it") ? desk.send("m8", { parentId: runId }) : runId;
  const body = { type: "message.send", messageId: "m9", content: "m9", parentId } as const;
  return desk.user({ ...body, whileActive, whilePending } as Parameters<typeof desk.user>[0]);
}
