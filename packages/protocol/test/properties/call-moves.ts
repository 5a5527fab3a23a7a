import type { AgentItem, Call, CommandBody } from "@holdfast/protocol";
import type { Desk } from "../support/desk.ts";
import { isNamed, PEOPLE, type Move, type Moves } from "./world.ts";

/** What anybody and any timer may do to a call. */
export function callMoves(desk: Desk, call: Call, moves: Moves): void {
  const add = adder(call, moves);
  agentMoves(desk, call, add);
  claimMoves(desk, call, add);
  answerMoves(desk, call, add);
  decisionMoves(desk, call, add);
  timerMoves(desk, call, add);
  const cancel = { type: "call.cancel", callId: call.id } as const;
  add("cancel", () => desk.user(cancel));
}

type Add = (trigger: string, act: Move["act"], main?: boolean) => void;

function adder(call: Call, { main, all }: Moves): Add {
  return (trigger, act, isMain = false) => {
    const move = { pair: `call ${call.status} / ${trigger}`, act };
    all.push(move);
    if (isMain) main.push(move);
  };
}

/** The attempt at work goes on with the call it proposed; another run's tries to. */
function agentMoves(desk: Desk, call: Call, add: Add): void {
  const run = desk.state.runs.get(call.runId);
  const other = [...desk.state.runs.values()].find((it) => it.status === "active" && it !== run);
  if (other) {
    const annotate = { type: "call.annotate", callId: call.id, metadata: { codec: {} } } as const;
    add("annotate:other", () => desk.agent(other.id).append(annotate));
  }
  if (run?.status !== "active" || !isNamed(desk, call)) return;
  const { id: callId, name: toolCallName, status } = call;
  const item = (...items: AgentItem[]) => desk.agent(run.id).append(...items);
  add("start", () => item({ type: "TOOL_CALL_START", toolCallId: callId, toolCallName }));
  add("arguments", () => item({ type: "TOOL_CALL_ARGS", toolCallId: callId, delta: " " }));
  add("end", () => item({ type: "TOOL_CALL_END", toolCallId: callId }), status === "streaming");
  add("ask", () => item({ type: "call.ask", callId, signed: true }));
  add("ask", () => item({ type: "call.ask", callId }), status === "ended");
  add("invalidate", () => item({ type: "call.invalidate", callId, error: { message: "No." } }));
  add("replace", () => item({ type: "call.replace_arguments", callId, arguments: '{"a":3}' }));
  add("annotate", () =>
    item({ type: "call.annotate", callId, metadata: { codec: { seen: true } } }),
  );
  add("annotate", () =>
    item({
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "tool-call",
      entityId: callId,
      encryptedValue: "x",
    }),
  );
}

/** Everyone who may try to execute: both people, the run's attempts, another run's, and a claim without an attempt. */
function parties(
  desk: Desk,
  call: Call,
): { side: string; send: (body: CommandBody) => Move["act"] }[] {
  const attempt = desk.state.runs.get(call.runId)?.attempt ?? 0;
  const as =
    (principal: string, token?: { runId: string; attempt: number }) => (body: CommandBody) => () =>
      desk.command(body, desk.env(principal, token));
  const other = [...desk.state.runs.keys()].find((id) => id !== call.runId);
  const mine = call.executor === "client" ? "client" : "agent";
  const people = PEOPLE.map((name) => ({ side: "client", send: as(`user:${name}`) }));
  const own = { side: "agent", send: as("agent:demo", { runId: call.runId, attempt }) };
  const older = {
    side: "agent",
    send: as("agent:demo", { runId: call.runId, attempt: attempt - 1 }),
  };
  const all = attempt > 1 ? [...people, own, older] : [...people, own];
  const sided = all.map(({ side, send }) => ({ side: side === mine ? side : "wrong", send }));
  if (other) sided.push({ side: "wrong", send: as("agent:demo", { runId: other, attempt: 1 }) });
  return sided;
}

function claimMoves(desk: Desk, call: Call, add: Add): void {
  const { id: callId, status } = call;
  const claims = [call.claim?.id, call.pastClaims?.[0], call.pastClaims?.at(-1), "none"];
  const ready = status === "open" || (status === "ended" && call.executor !== "client");
  for (const { side, send } of parties(desk, call)) {
    add(`claim:${side}`, send({ type: "call.claim", callId }), ready && side !== "wrong");
    add(`claim:${side}`, send({ type: "call.claim", callId, force: true }));
    for (const claimId of new Set(claims)) {
      if (claimId === undefined) continue;
      add(`renew:${side}`, send({ type: "call.renew", callId, claimId }));
      add(`release:${side}`, send({ type: "call.release", callId, claimId }));
      const progress = { type: "call.progress", callId, claimId, progress: { done: 1 } } as const;
      add(`progress:${side}`, send(progress));
    }
  }
}

function answerMoves(desk: Desk, call: Call, add: Add): void {
  const { id: callId, status } = call;
  const claims = [undefined, call.claim?.id, call.pastClaims?.[0], call.pastClaims?.at(-1)];
  const ready = status === "open" || status === "claimed";
  const values = [0, "", false, null];
  for (const { side, send } of parties(desk, call)) {
    for (const claimId of new Set(claims)) {
      for (const outcome of ["ok", "error"] as const) {
        const value = values[desk.now() % values.length] ?? null;
        const body = {
          type: "call.answer",
          callId,
          outcome,
          answer: { type: "json", value },
          ...(claimId !== undefined && { claimId }),
        } as const;
        add(`answer:${side}`, send(body), ready && side !== "wrong");
      }
    }
  }
  const lateness = { type: "call.answer", callId, outcome: "ok" } as const;
  const run = desk.state.runs.get(call.runId);
  if (run?.status !== "active" || !isNamed(desk, call)) return;
  add("answer:appended", () =>
    desk.agent(run.id).append({ ...lateness, answer: { type: "text", text: "done" } }),
  );
}

function decisionMoves(desk: Desk, call: Call, add: Add): void {
  const { id: callId, approval, status } = call;
  const approvalId = approval?.id ?? "none";
  const digest = approval?.digest ?? "none";
  const decide = (more: object, name = "ana") =>
    desk.user({ type: "call.decide", callId, approved: true, ...more }, name);
  const gated = status === "gated";
  add("approve", () => decide({ approvalId }), gated);
  add("approve", () => decide({ digest }), gated);
  add("approve:always", () => decide({ approvalId, always: true }));
  add("approve:other", () => decide({ approvalId }, "bo"));
  add("deny", () => decide({ approvalId, approved: false, reason: "no", payload: null }), gated);
  add("edit", () => decide({ approvalId, arguments: '{"a":2}' }));
  add("edit", () => decide({ approvalId, arguments: "{" }));
  add("decide:stale", () => decide({ approvalId: "gone" }));
}

function timerMoves(desk: Desk, call: Call, add: Add): void {
  const { id: callId } = call;
  const act = (timer: Parameters<Desk["timer"]>[0], wait: number) => () => {
    desk.tick(wait);
    desk.timer(timer);
    return undefined;
  };
  add("approval", act({ type: "approval", callId }, 1));
  add("approval", act({ type: "approval", callId }, 100_000));
  add("deadline", act({ type: "deadline", callId }, 1));
  add("deadline", act({ type: "deadline", callId }, 100_000));
  add("escalation", act({ type: "escalation", callId }, 1));
  add("escalation", act({ type: "escalation", callId }, 40_000));
  const claimId = call.claim?.id ?? call.pastClaims?.[0] ?? "none";
  add("claim", act({ type: "claim", callId, claimId }, 40_000));
}
