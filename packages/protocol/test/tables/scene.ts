import type { AgentItem, ToolDeclaration, Verdict } from "@holdfast/protocol";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import type { Status } from "./call-cells.ts";

/** The id its provider gives the call. */
export const CALL = "k";
const ARGUMENTS = '{"a":1}';

/** A desk whose call stands where a cell begins. */
export interface Scene {
  readonly desk: Desk;
  readonly runId: string;
  readonly has: (word: string) => boolean;
  readonly isClient: boolean;
  /** The claim that holds the call now, and those that once did. */
  claimId?: string;
  readonly past: string[];
}

/** Builds the desk for a cell: the call in its status, under the cell's conditions. */
export function arrange(status: Status, words: ReadonlySet<string>): Scene {
  const has = (word: string) => words.has(word);
  const isClient = has("client");
  const desk = openDesk({
    tools: [toolOf(status, has), { name: "other" }, { name: "page", executor: "client" }],
    complete: true,
    claims: !has("implicit"),
    policy: has("offer") ? { invalidArguments: "offer" } : {},
  });
  const runId = desk.send("m1");
  const scene: Scene = { desk, runId, has, isClient, past: [] };
  for (let losses = has("worn") ? 3 : 0; losses > 0; losses -= 1) {
    desk.start(runId);
    loseAttempt(scene);
  }
  desk.start(runId);
  if (has("granted")) grant(scene);
  if (has("step")) applied(desk.agent(runId).startStep("s"));
  if (!has("no round")) append(scene, { type: "round.open" });
  if (has("kept")) keepRound(scene);
  propose(scene);
  STAGES[status](scene);
  const now = desk.call(CALL).status;
  if (now !== status) throw new Error(`The call is ${now}, not ${status}`);
  return scene;
}

const STAGES: Readonly<Record<Status, (scene: Scene) => void>> = {
  streaming(scene) {
    if (!scene.has("held once")) return;
    ended(scene);
    append(scene, start(scene));
  },
  ended,
  gated(scene) {
    ended(scene);
    closeRound(scene);
    if (scene.has("older attempt")) applied(agent(scene).finish());
  },
  open,
  claimed(scene) {
    const { has, isClient } = scene;
    if (has("implicit")) return void append(scene, end());
    if (isClient || has("decided") || has("after open")) open(scene);
    else append(scene, end());
    if (has("held once") || has("older claim")) hold(scene, "bo", true);
    hold(scene, "ana", false);
    if (has("round closed")) closeRound(scene);
    if (has("older attempt")) loseAttempt(scene);
  },
  settled(scene) {
    const { desk, runId, has, isClient } = scene;
    if (has("truncated")) return closeRound(scene);
    append(scene, end());
    if (has("unknown")) return;
    if (has("claim lost")) {
      hold(scene, "ana", false);
      return desk.timer({ type: "claim", callId: CALL, claimId: scene.claimId ?? "" });
    }
    if (!has("in round")) closeRound(scene);
    if (has("invalid")) return;
    if (has("deadline passed")) {
      if (has("claimed before")) hold(scene, "ana", false);
      desk.tick(10_000);
      return desk.timer({ type: "deadline", callId: CALL });
    }
    if (has("cancelled")) return void desk.user({ type: "call.cancel", callId: CALL });
    if (has("approval expired")) {
      desk.tick(10_000);
      return desk.timer({ type: "approval", callId: CALL });
    }
    if (has("denied")) return decide(scene, false);
    if (has("decided")) decide(scene, true);
    const answer = {
      type: "call.answer",
      callId: CALL,
      outcome: "ok",
      answer: { type: "json", value: 1 },
    } as const;
    if (isClient) applied(desk.user(answer));
    else if (has("step") && !has("answered by no step")) append(scene, answer);
    else applied(desk.agent(runId).command(answer));
    if (has("read")) applied(desk.agent(runId).append({ type: "round.open" }));
    if (has("read by another step")) {
      applied(desk.agent(runId).startStep("other"));
      applied(desk.agent(runId).step("other").append({ type: "round.open" }));
    }
    if (has("read by itself")) append(scene, { type: "round.open" });
  },
};

function ended(scene: Scene): void {
  append(scene, end());
  if (scene.has("asked")) ask(scene);
  if (scene.has("signed")) ask(scene, { signed: true });
  if (scene.has("held once")) hold(scene, "ana", true);
}

function open(scene: Scene): void {
  const { desk, runId, has } = scene;
  append(scene, end());
  if (has("asked")) ask(scene);
  closeRound(scene);
  if (has("given")) applied(agent(scene).finish());
  if (has("older attempt") && !has("decided")) {
    loseAttempt(scene);
    return void desk.start(runId);
  }
  if (has("decided")) decide(scene, true);
  if (has("given")) desk.start(runId);
  if (desk.call(CALL).status !== "open" || has("after open") || has("older claim")) return;
  if (has("manual") || has("expired once")) {
    hold(scene, "ana", false);
    desk.timer({ type: "claim", callId: CALL, claimId: scene.claimId ?? "" });
    scene.past.push(scene.claimId ?? "");
  } else if (has("held before")) {
    hold(scene, "ana", true);
    hold(scene, "bo", true);
  } else if (has("released") || (has("held once") && !has("by other"))) {
    hold(scene, "ana", true);
  }
}

function toolOf(status: Status, has: (word: string) => boolean): ToolDeclaration {
  const gated =
    status === "gated" || ["gate", "decided", "denied", "approval expired", "granted"].some(has);
  return {
    name: "tool",
    parameters: { required: ["a"] },
    approvalMs: 1_000,
    deadlineMs: 5_000,
    ...(has("client") && { executor: "client" }),
    ...(gated && !has("provider") && { approval: "always" }),
    ...(has("safe") && { retry: "safe" }),
  };
}

export function agent({ desk, runId, has }: Scene) {
  return has("step") ? desk.agent(runId).step("s") : desk.agent(runId);
}

export function append(scene: Scene, ...items: AgentItem[]): Verdict {
  return applied(agent(scene).append(...items));
}

export function start(scene: Scene, name = "tool"): AgentItem {
  return {
    type: "TOOL_CALL_START",
    toolCallId: CALL,
    toolCallName: scene.has("unknown") ? "nowhere" : name,
    ...(scene.has("provider") && { metadata: { holdfast: { executor: "provider" } } }),
  };
}

export function end(): AgentItem {
  return { type: "TOOL_CALL_END", toolCallId: CALL };
}

/** An earlier call of the tool, approved for the rest of the session. */
function grant({ desk, runId }: Scene): void {
  const agent = desk.agent(runId);
  applied(agent.append({ type: "round.open" }, ...proposal("early", "tool", ARGUMENTS)));
  applied(agent.append({ type: "round.close" }));
  const { approval } = desk.call("early");
  const approvalId = approval?.id ?? "";
  const body = { callId: "early", approvalId, approved: true, always: true } as const;
  applied(desk.user({ type: "call.decide", ...body }));
}

function propose(scene: Scene): void {
  const delta = scene.has("invalid")
    ? '{"a":'
    : scene.has("ambiguous")
      ? '{"a":1,"a":2}'
      : ARGUMENTS;
  append(scene, start(scene), { type: "TOOL_CALL_ARGS", toolCallId: CALL, delta });
}

function closeRound(scene: Scene): void {
  append(scene, { type: "round.close" });
}

function ask(scene: Scene, more: { signed?: true } = {}): void {
  append(scene, { type: "call.ask", callId: CALL, approvalId: "asked", ...more });
}

function decide({ desk }: Scene, approved: boolean): void {
  const approvalId = desk.call(CALL).approval?.id ?? "";
  applied(desk.user({ type: "call.decide", callId: CALL, approvalId, approved }));
}

/** Claims the call for its side's holder, and lets it go again. */
function hold(scene: Scene, name: string, release: boolean): void {
  const { desk, isClient } = scene;
  const claim = { type: "call.claim", callId: CALL } as const;
  const command = isClient
    ? (body: Parameters<Desk["user"]>[0]) => desk.user(body, name)
    : agent(scene).command;
  const claimId = applied(command(claim)).claimId ?? "";
  if (!release) return void (scene.claimId = claimId);
  applied(command({ type: "call.release", callId: CALL, claimId }));
  scene.past.push(claimId);
}

export function loseAttempt({ desk, runId }: Scene): void {
  desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
}

/** Another call of the round has its answer, so that a lost attempt does not take the round back. */
function keepRound(scene: Scene): void {
  append(
    scene,
    { type: "TOOL_CALL_START", toolCallId: "side", toolCallName: "other" },
    { type: "TOOL_CALL_END", toolCallId: "side" },
    { type: "call.answer", callId: "side", outcome: "ok", answer: { type: "text", text: "" } },
  );
}
