import {
  barrier,
  callsOf,
  endRun,
  next,
  open,
  releaseTo,
  settle,
  startDeadline,
  type RefCall,
  type Reference,
  type RefRun,
} from "./reference.ts";

const SERVER = { name: "server" };

/** Lets time pass, and everything that runs out meanwhile do so, in order. */
export function pass(ref: Reference, ms: number): void {
  const end = ref.now + ms;
  for (let due = first(ref); due && due.at <= end; due = first(ref)) {
    ref.now = Math.max(ref.now, due.at);
    due.fire();
  }
  ref.now = end;
}

/** The server was away for a while: it forgot who had said that they are alive, and finds what is overdue. */
export function pause(ref: Reference, ms: number): void {
  for (const { due } of ref.runs.values()) if (due) due.until = undefined;
  for (const { claim } of ref.calls.values()) if (claim?.due) claim.due.until = undefined;
  ref.now += ms;
  pass(ref, 0);
}

function first(ref: Reference): { at: number; fire: () => void } | undefined {
  const all: { at: number; fire: () => void }[] = [];
  for (const run of ref.runs.values()) {
    const { due } = run;
    if (run.status !== "active" || !due) continue;
    all.push({ at: due.row, fire: () => isOver(ref, due) && lose(ref, run) });
  }
  for (const call of ref.calls.values()) {
    const due = call.claim?.due;
    if (due) all.push({ at: due.row, fire: () => isOver(ref, due) && loseClaim(ref, call) });
    const at = call.status === "gated" ? call.expires : call.deadline;
    if (call.status === "settled" || at === undefined) continue;
    all.push({
      at,
      fire() {
        settle(ref, call, "expired", SERVER);
        barrier(ref, call.run);
      },
    });
  }
  return all.toSorted((a, b) => a.at - b.at)[0];
}

/** A holder that said it is alive, or may have, has its time first. */
function isOver(ref: Reference, due: NonNullable<RefRun["due"]>): boolean {
  due.until ??= ref.now + due.term;
  due.row = due.until;
  return due.until <= ref.now;
}

function loseClaim(ref: Reference, call: RefCall): void {
  if (call.tool.safe || call.tool.side === "client") {
    releaseTo(ref, call, SERVER);
    if (!call.tool.safe) call.manual = true;
  } else {
    settle(ref, call, "error", SERVER);
  }
  barrier(ref, call.run);
}

function lose(ref: Reference, run: RefRun): void {
  run.losses += 1;
  if (run.losses > 3) return endRun(ref, run, "error");
  for (const call of callsOf(ref, run.id)) {
    if (!call.claim?.implicit) continue;
    if (!call.tool.safe) settle(ref, call, "error", SERVER);
    else {
      delete call.claim;
      open(ref, call, SERVER);
      startDeadline(ref, call);
    }
  }
  next(ref, run, true);
}
