import type { CommandBody, Verdict } from "@holdfast/protocol";
import { applied } from "../support/desk.ts";
import { agent, append, CALL, loseAttempt, start, type Scene } from "./scene.ts";

type Act = (scene: Scene) => Verdict | undefined;

/** What happens to the call, by the names of the rows. */
export const TRIGGERS: Readonly<Record<string, Act>> = {
  start(scene) {
    const { desk, runId, has } = scene;
    const item = start(scene, has("other name") ? "other" : "tool");
    const owned = has("other owner") ? { ...item, subagentRunId: "sub" } : item;
    return desk.agent(has("other run") ? otherRun(scene) : runId).append(owned as typeof item);
  },
  arguments: (scene) =>
    agent(scene).append({ type: "TOOL_CALL_ARGS", toolCallId: CALL, delta: " " }),
  end: (scene) => agent(scene).append({ type: "TOOL_CALL_END", toolCallId: CALL }),
  "round closes"(scene) {
    if (scene.desk.run(scene.runId).openRounds.length === 0) append(scene, { type: "round.open" });
    return append(scene, { type: "round.close" });
  },
  withdraw: (scene) => agent(scene).append({ type: "round.withdraw" }),
  "step starts again": ({ desk, runId }) => desk.agent(runId).startStep("s"),
  "claim by the client": (scene) =>
    command(scene, {
      type: "call.claim",
      callId: CALL,
      ...(scene.has("force") && { force: true }),
    }),
  "claim by the agent": (scene) => command(scene, { type: "call.claim", callId: CALL }),
  "claim by the wrong side": (scene) => wrongSide(scene, { type: "call.claim", callId: CALL }),
  renew: (scene) => command(scene, { type: "call.renew", callId: CALL, claimId: claimOf(scene) }),
  release: (scene) =>
    command(scene, { type: "call.release", callId: CALL, claimId: claimOf(scene) }),
  progress(scene) {
    const { claimId } = scene;
    const body = {
      type: "call.progress",
      callId: CALL,
      progress: 50,
      ...(claimId !== undefined && { claimId: claimOf(scene) }),
    } as const;
    return scene.has("wrong side") ? wrongSide(scene, body) : command(scene, body);
  },
  "answer by the client": (scene) =>
    command(scene, answer(scene, claimedBy(scene) ? claimOf(scene) : undefined)),
  "answer by the agent": (scene) => command(scene, answer(scene)),
  "answer with the agent's claim": (scene) => command(scene, answer(scene, claimOf(scene))),
  "answer by the wrong side": (scene) => wrongSide(scene, answer(scene)),
  decide({ desk, runId, has }) {
    const { approval } = desk.call(CALL);
    const approvalId = has("stale id") ? "gone" : (approval?.id ?? "none");
    const digest = has("stale digest") ? "gone" : (approval?.digest ?? "none");
    const byDigest = has("by digest") || has("stale digest") || has("by both");
    const body = {
      type: "call.decide",
      callId: CALL,
      approved: !has("deny"),
      ...(!has("names nothing") && !has("by digest") && { approvalId }),
      ...(byDigest && { digest }),
      ...(has("edit") && { arguments: EDITS[has("badly") ? 1 : has("naming twice") ? 2 : 0] }),
    } as const;
    return has("as attempt") ? desk.agent(runId).command(body) : desk.user(body);
  },
  "approval expires": (scene) => due(scene, { type: "approval", callId: CALL }),
  deadline: (scene) => due(scene, { type: "deadline", callId: CALL }),
  "claim expires"({ desk, claimId, past, has }) {
    const named = has("older claim") || claimId === undefined ? (past[0] ?? "none") : claimId;
    desk.timer({ type: "claim", callId: CALL, claimId: named });
    return undefined;
  },
  "attempt finishes": (scene) => agent(scene).finish(),
  "attempt is lost": (scene) => {
    loseAttempt(scene);
    return undefined;
  },
  cancel: ({ desk }) => desk.user({ type: "call.cancel", callId: CALL }),
  "run is cancelled": ({ desk, runId }) => desk.user({ type: "run.cancel", runId }),
  "run is replaced": (scene) => void scene.desk.send("m2", { whileActive: "replace" }),
  "run fails": (scene) => agent(scene).fail(),
  "run is abandoned"(scene) {
    const { desk, runId } = scene;
    append(
      scene,
      { type: "round.open" },
      { type: "TOOL_CALL_START", toolCallId: "pending", toolCallName: "page" },
      { type: "TOOL_CALL_END", toolCallId: "pending" },
    );
    applied(agent(scene).finish());
    if (desk.run(runId).status !== "suspended") throw new Error("The run is not suspended");
    desk.send("m2");
    return undefined;
  },
  "agent is given up": (scene) => {
    loseAttempt(scene);
    return undefined;
  },
};

const EDITS = ['{"a":2}', '{"b":2}', '{"a":2,"a":3}'];

/** A command from the side that executes the call, as whom the words say. */
function command(scene: Scene, body: CommandBody): Verdict {
  const { desk, runId, has, isClient } = scene;
  if (isClient) return desk.user(body, has("by other") ? "bo" : "ana");
  if (has("no attempt")) return desk.command(body, desk.env("agent:demo"));
  const attempt = has("older attempt") ? 1 : desk.run(runId).attempt;
  const principal = has("by other") ? "agent:twin" : "agent:demo";
  return desk.command(body, desk.env(principal, { runId, attempt }));
}

/** The same from the other side, or from another run's attempt. */
function wrongSide(scene: Scene, body: CommandBody): Verdict {
  const { desk, has, isClient } = scene;
  if (has("other run")) return desk.agent(otherRun(scene)).command(body);
  return isClient ? agent(scene).command(body) : desk.user(body);
}

/** A second run at work beside the call's own. */
function otherRun({ desk }: Scene): string {
  const runId = desk.send("m2", { whileActive: "concurrent" });
  desk.start(runId);
  applied(desk.agent(runId).append({ type: "round.open" }));
  return runId;
}

function claimedBy({ has, claimId, past }: Scene): boolean {
  return (has("by holder") || has("by other")) && (claimId !== undefined || past.length > 0);
}

/** The claim a command names: one that ended where the words say so, else the one that holds. */
function claimOf({ has, claimId, past, desk }: Scene): string {
  if (has("held once") || has("held before")) return past[0] ?? "none";
  if (has("by other")) return "nobody's";
  return claimId ?? desk.call(CALL).claim?.id ?? desk.call(CALL).pastClaims?.at(-1) ?? "none";
}

function answer({ has }: Scene, claimId?: string) {
  return {
    type: "call.answer",
    callId: CALL,
    outcome: has("with error") ? "error" : "ok",
    answer: { type: "json", value: has("with another") ? 2 : 1 },
    ...(claimId !== undefined && { claimId }),
    ...(has("declines") && { declined: true }),
  } as const;
}

function due({ desk, has }: Scene, timer: Parameters<Scene["desk"]["timer"]>[0]): undefined {
  desk.tick(has("not due") ? 1 : 10_000);
  desk.timer(timer);
  return undefined;
}
