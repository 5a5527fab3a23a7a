import {
  barrier,
  callsOf,
  DONE,
  endRun,
  isCurrent,
  next,
  open,
  releaseTo,
  runOf,
  settle,
  startDeadline,
  tell,
  TERMS,
  TOOLS,
  type RefCall,
  type Reference,
  type RefRun,
  type Said,
  type ToolName,
  type Who,
} from "./reference.ts";

export function claim(ref: Reference, call: RefCall, who: Who, force: boolean): Said {
  if (call.status === "settled") return "call_settled";
  if (!isExecutor(call, who)) return "not_executor";
  if (call.tool.side === "agent" && !isCurrent(ref, who)) return "attempt_fenced";
  if (call.status === "gated") return "approval_required";
  if (call.status === "claimed") {
    const isOwn = call.tool.side === "agent" && call.claim?.attempt === who.attempt;
    return isOwn && !call.claim?.implicit ? DONE : "claim_held";
  }
  if (call.manual && !force) return "retry_unsafe";
  const due = { row: ref.now + TERMS.claim, until: ref.now + TERMS.claim, term: TERMS.claim };
  call.status = "claimed";
  call.claim = {
    id: "", // the server's to give
    by: who.name,
    due,
    ...(who.attempt !== undefined && { attempt: who.attempt }),
  };
  return DONE;
}

export function release(ref: Reference, call: RefCall, who: Who, claimId: string): Said {
  if (call.status === "settled") return "call_settled";
  const heldOnce = call.past.includes(claimId);
  if (call.status !== "claimed") return heldOnce ? "claim_lost" : "not_claimed";
  if (call.claim?.implicit || !isHolder(call, who, claimId))
    return heldOnce ? "claim_lost" : "claim_held";
  releaseTo(ref, call, who);
  barrier(ref, call.run);
  return DONE;
}

export interface Given {
  readonly value: number;
  readonly claimId?: string;
  /** The step attempt whose batch it comes in. */
  readonly step?: number;
}

export function answer(ref: Reference, call: RefCall, who: Who, given: Given): Said {
  const { claimId, value, step = 0 } = given;
  const { side } = call.tool;
  if (!isExecutor(call, who, claimId)) return "not_executor";
  const heldOnce = claimId !== undefined && call.past.includes(claimId);
  if (call.status !== "settled" && heldOnce) {
    if (side === "agent" || call.claim || call.past.at(-1) !== claimId) return "claim_lost";
  }
  const isHeld = claimId !== undefined && isHolder(call, who, claimId);
  if (call.status !== "settled" && side === "agent" && !isHeld && !isCurrent(ref, who))
    return "attempt_fenced";
  if (call.status === "gated" && side === "client") return "approval_required";
  if (call.status === "claimed" && !isHeld && !call.claim?.implicit) return "claim_held";
  const isOwn = who.run === call.run;
  const made = {
    value,
    step: isOwn ? step : 0,
    when: (ref.moment += 1),
    ok: call.status !== "gated",
    ...(isOwn && who.attempt !== undefined && { attempt: who.attempt }),
  };
  if (call.status === "settled") {
    const stands = call.answer;
    if (!stands) return "call_settled";
    if (side === "agent" && stands.ok && stands.value === value) return DONE;
    const run = runOf(ref, call.run);
    const isAnew = made.step > stands.step && stands.step > 0;
    if (!isAnew || !stands.ok || call.withdrawn || run.read > stands.when)
      return "already_answered";
    call.answer = { ...made, ok: true };
    call.outcome = "ok";
    return DONE;
  }
  call.answer = made;
  settle(ref, call, made.ok ? "ok" : "error", who);
  barrier(ref, call.run);
  return DONE;
}

export function decide(ref: Reference, call: RefCall, approved: boolean, isStale: boolean): Said {
  if (call.status === "settled" && !call.tool.gate) return "call_settled";
  if (call.status !== "gated" || isStale) return "stale_decision";
  call.decided = approved;
  if (!approved) settle(ref, call, "denied", SOMEBODY);
  else {
    open(ref, call, SOMEBODY);
    startDeadline(ref, call);
    tell(ref, call, SOMEBODY);
  }
  barrier(ref, call.run);
  return DONE;
}

export function cancelCall(ref: Reference, call: RefCall): Said {
  if (call.status === "settled") return "call_settled";
  settle(ref, call, "cancelled", SOMEBODY);
  barrier(ref, call.run);
  return DONE;
}

export function cancelRun(ref: Reference, run: RefRun): Said {
  if (run.status === "ended") return "run_ended";
  endRun(ref, run, "cancelled", "cancelled");
  return DONE;
}

/** What is to be done with the runs before it, and whether the message's own run waits behind them. */
export function send(ref: Reference, id: () => string, policy: "queue" | "replace" | "refuse") {
  const live = [...ref.runs.values()].filter(({ status }) => status !== "ended");
  const busy = live.filter(({ status }) => status !== "suspended");
  if (policy === "refuse" && busy.length > 0) return "run_active";
  for (const run of live.toReversed()) {
    if (run.status === "suspended") endRun(ref, run, "complete");
    else if (policy === "replace") endRun(ref, run, "cancelled", "cancelled");
  }
  const behind = policy === "queue" ? busy.map((run) => run.id) : [];
  const run: RefRun = {
    id: id(),
    status: behind.length > 0 ? "held" : "queued",
    behind,
    attempt: 0,
    started: 0,
    losses: 0,
    news: false,
    claims: true,
    step: 0,
    stepIn: 0,
    read: 0,
    readInStep: 0,
  };
  ref.runs.set(run.id, run);
  return DONE;
}

export function start(ref: Reference, run: RefRun, claims: boolean): void {
  run.status = "active";
  run.attempt += 1;
  run.started = ref.moment += 1;
  run.news = false;
  run.claims = claims;
  run.due = { row: ref.now + TERMS.lease, until: ref.now + TERMS.lease, term: TERMS.lease };
}

/** The attempt said something. */
export function renew(ref: Reference, who: Who): void {
  const { due } = ref.runs.get(who.run ?? "") ?? {};
  if (due && isCurrent(ref, who)) due.until = ref.now + TERMS.lease;
}

/** Whether a batch of the attempt is taken. */
export function fence(ref: Reference, who: Who): Said {
  const run = runOf(ref, who.run ?? "");
  if (isCurrent(ref, who)) return DONE;
  return run.status === "ended" ? "run_ended" : "attempt_fenced";
}

/** A round with calls, of a step or of none. */
export function propose(
  ref: Reference,
  who: Who,
  calls: readonly { readonly id: string; readonly name: ToolName }[],
  step: number,
): void {
  const run = runOf(ref, who.run ?? "");
  run.news = false;
  ref.moment += 1;
  if (step === 0) run.read = ref.moment;
  else run.readInStep = ref.moment;
  for (const { id, name } of calls) {
    const tool: RefCall["tool"] = TOOLS[name];
    const call: RefCall = { id, run: run.id, tool, step, status: "open", past: [], opened: 0 };
    ref.calls.set(id, call);
    if (tool.gate) {
      call.status = "gated";
      call.expires = ref.now + TERMS.approval;
    } else if (!run.claims && tool.side === "agent") {
      call.status = "claimed";
      call.claim = { id: "implicit", by: who.name, implicit: true };
    } else {
      open(ref, call, who);
      startDeadline(ref, call);
    }
  }
}

export function startStep(ref: Reference, who: Who): Said {
  const run = runOf(ref, who.run ?? "");
  const calls = callsOf(ref, run.id);
  const isRead = ({ answer: it }: RefCall) =>
    it !== undefined && (run.read > it.when || (it.step === 0 && run.readInStep > it.when));
  if (run.step > 0) {
    const answered = calls.filter(({ answer: it }) => it?.step === run.step);
    const written = calls.filter(({ step }) => step === run.step);
    if (answered.some(isRead) || written.some((call) => isUsed(call) || isRead(call)))
      return "step_settled";
    for (const call of written) {
      if (call.status !== "settled") settle(ref, call, "superseded", who);
      call.withdrawn = true;
    }
  }
  run.step += 1;
  run.stepIn = run.attempt;
  return DONE;
}

export function finish(ref: Reference, who: Who): void {
  const run = runOf(ref, who.run ?? "");
  for (const call of callsOf(ref, run.id)) {
    const isGiven = call.opened < run.started || call.openedIn === run.attempt;
    const isLeft = call.status === "open" && call.tool.side === "agent" && isGiven;
    if (isLeft || call.claim?.implicit) settle(ref, call, "error", who);
  }
  run.losses = 0;
  run.stepIn = 0;
  next(ref, run, false);
}

const SOMEBODY: Who = { name: "user:" };

/** On the agent's side it is the run's attempts, and whoever names a claim: that outlives them. */
function isExecutor(call: RefCall, who: Who, claimId?: string): boolean {
  if (call.tool.side === "client") return who.run === undefined;
  if (who.run === call.run) return true;
  if (claimId === undefined) return false;
  return call.claim?.id === claimId ? call.claim.by === who.name : call.past.includes(claimId);
}

function isHolder({ claim: held, tool, run }: RefCall, who: Who, claimId: string): boolean {
  if (held?.id !== claimId) return false;
  return (tool.side === "agent" && who.run === run) || held.by === who.name;
}

/** Somebody else decided, executes, ended or may have run it. */
function isUsed({ status, tool, decided, manual, answer: it, past, settledBy }: RefCall): boolean {
  if (decided !== undefined) return true;
  if (status === "open") return manual === true;
  if (status === "claimed") return tool.side === "client";
  if (status !== "settled") return false;
  if (it) return it.attempt === undefined;
  return (tool.side === "client" && past.length > 0) || settledBy === SOMEBODY.name;
}
