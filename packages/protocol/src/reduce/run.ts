import type { Call } from "../call.ts";
import type { Entry } from "../entry.ts";
import type { EventOf } from "../events.ts";
import type { Item } from "../item.ts";
import type { Offset } from "../offset.ts";
import { mergeMetadata } from "../metadata.ts";
import { omit } from "../omit.ts";
import { MAX_REQUESTS, type Run, type Step } from "../run.ts";
import { callsOf, partsOf, type Part, type SessionState } from "../state.ts";
import { dropParts, putCall, putItem, putRun, type Changes } from "./changes.ts";
import { stepOf } from "./content.ts";

export function reduceRun(state: SessionState, entry: Entry, changes: Changes): void {
  const { event } = entry;
  const runId = entry.runId ?? "";
  if (event.type === "run.added") {
    putRun(state, newRun(runId, entry, event.agent, event.parentId), changes);
    return;
  }
  const run = state.runs.get(runId);
  if (!run) return;
  const put = (next: Run) => putRun(state, next, changes);
  switch (event.type) {
    case "run.queued":
      return put({
        // Behind a barrier everything that was answered is read.
        ...(event.reason === "barrier"
          ? readBy(omit(run, "wakeId"), entry.offset)
          : omit(run, "wakeId")),
        status: "queued",
        behind: event.behind ?? [],
        queuedAt: entry.at,
        ...(event.wakeId !== undefined && { wakeId: event.wakeId }),
      });
    case "run.suspended":
      return put({ ...deactivated(run), status: "suspended" });
    case "run.requested":
      return request(state, run, event, entry, changes);
    case "run.annotated":
      return put({ ...run, metadata: mergeMetadata(run.metadata, event.metadata) });
    case "run.ended":
      put({
        ...omit(omit(deactivated(run), "wakeId"), "heldUntil"),
        status: "ended",
        outcome: event.outcome,
        endedAt: entry.at,
        behind: [],
        openRounds: [],
        ...(event.reason !== undefined && { reason: event.reason }),
        ...(event.error && { error: event.error }),
      });
      for (const id of state.index.live) {
        const other = state.runs.get(id);
        if (other?.behind.includes(runId)) {
          putRun(state, { ...other, behind: other.behind.filter((it) => it !== runId) }, changes);
        }
      }
      return;
    case "attempt.started":
      return put({
        ...omit(omit(run, "wakeId"), "clientTools"),
        ...clientTools(state),
        status: "active",
        attempt: entry.attempt ?? run.attempt + 1,
        attemptOffset: entry.offset,
        ...activated(run, entry),
        worker: event.worker,
        startedBy: event.wakeId,
        claims: event.claims,
        tools: event.tools ?? [],
        toolsComplete: event.complete ?? false,
        news: false,
      });
    case "attempt.held":
      return put({ ...run, heldUntil: event.until });
    case "attempt.finished":
      return put({ ...omit(omit(deactivated(run), "heldUntil"), "releases"), losses: 0 });
    case "attempt.released":
      return put({ ...omit(run, "heldUntil"), releases: (run.releases ?? 0) + 1 });
    case "attempt.lost":
      return put({ ...omit(run, "heldUntil"), losses: run.losses + 1 });
    case "round.opened":
      putItem(
        state,
        {
          kind: "round",
          id: roundId(runId, event.round),
          runId,
          round: event.round,
          ...stepOf(entry),
          offset: entry.offset,
          status: "open",
        },
        changes,
      );
      return put({
        ...readBy(omit(run, "releases"), entry.offset, entry.stepId),
        round: event.round,
        openRounds: [...run.openRounds, event.round],
        news: false,
      });
    case "round.closed": {
      const item = state.items.get(roundId(runId, event.round));
      if (item?.kind === "round") putItem(state, { ...item, status: "closed" }, changes);
      return put({ ...run, openRounds: run.openRounds.filter((it) => it !== event.round) });
    }
    case "round.superseded": {
      const openRounds = run.openRounds.filter((it) => it !== event.round);
      const isWritten = (row: Written) => row.round === event.round;
      return withdraw(state, { ...run, openRounds }, isWritten, changes);
    }
    case "step.started":
      return put({
        ...run,
        steps: [
          ...(run.steps ?? []).filter(({ id }) => id !== event.stepId),
          beginStep(event, entry),
        ],
      });
    case "step.ended":
      return put({
        ...run,
        steps: (run.steps ?? []).map((step) =>
          step.id === event.stepId && step.attempt === event.stepAttempt
            ? { ...step, status: "ended" }
            : step,
        ),
      });
    case "step.superseded": {
      const isWritten = (row: Written | undefined) =>
        row?.stepId === event.stepId && row.stepAttempt === event.stepAttempt;
      const openRounds = run.openRounds.filter(
        (round) => !isWritten(state.items.get(roundId(runId, round))),
      );
      return withdraw(state, { ...run, openRounds }, isWritten, changes);
    }
    case "run.steered":
      return put({
        ...run,
        steers: [...(run.steers ?? []), { messageId: event.messageId, offset: entry.offset }],
        news: true,
      });
    case "run.steer_settled":
      return settleSteer(state, run, entry, changes);
    default:
      return;
  }
}

/** The run with its activation over. */
function deactivated(run: Run): Run {
  const { activation } = run;
  return activation === undefined || activation.ended
    ? run
    : { ...run, activation: { ...activation, ended: true } };
}

/** An attempt begins an activation, unless it takes up one that its forerunner left. */
function activated(run: Run, { attempt, offset }: Entry): Pick<Run, "activation"> {
  const { activation } = run;
  if (activation && !activation.ended) return { activation };
  return { activation: { attempt: attempt ?? run.attempt + 1, offset } };
}

/** A message that was read stands where it was read, as a part of the run. */
function settleSteer(state: SessionState, run: Run, entry: Entry, changes: Changes): void {
  const { event } = entry;
  if (event.type !== "run.steer_settled") return;
  const { messageId, consumed } = event;
  const message = state.messages.get(messageId);
  if (!message || !run.steers?.some((steer) => steer.messageId === messageId)) return;
  if (consumed) {
    const id = steerId(messageId);
    const round = entry.round !== undefined && { round: entry.round };
    const { offset } = entry;
    putItem(
      state,
      { kind: "steer", id, runId: run.id, ...round, ...stepOf(entry), offset, message },
      changes,
    );
  }
  const steers = run.steers.map((steer) =>
    steer.messageId === messageId ? { ...steer, consumed } : steer,
  );
  putRun(state, { ...run, steers }, changes);
}

/** The id of the item that a message becomes where a run read it. */
function steerId(messageId: string): string {
  return `steer:${messageId}`;
}

function request(
  state: SessionState,
  run: Run,
  { requestId, activation, digest, input }: EventOf<"run.requested">,
  { actor }: Entry,
  changes: Changes,
): void {
  const { requests: index } = state.index;
  const all = [...(run.requests ?? []), { id: requestId, activation, digest, by: actor }];
  for (const { id } of all.slice(0, -MAX_REQUESTS)) index.delete(id);
  index.set(requestId, run.id);
  putRun(state, { ...run, requests: all.slice(-MAX_REQUESTS), ...(input && { input }) }, changes);
}

/** The run after something read its history: a round of a step, or, without one, anything else. */
function readBy<R extends Pick<Run, "reads">>(run: R, offset: Offset, stepId?: string): R {
  const others = (run.reads ?? []).filter((read) => read.stepId !== stepId);
  return { ...run, reads: [...others, { ...(stepId !== undefined && { stepId }), offset }] };
}

/** Where in a run a row was written. */
type Written = Pick<Item & Call, "round" | "stepId" | "stepAttempt">;

/** Takes back what was written somewhere: items leave the state, and what they read to steer the run waits again. */
function withdraw(
  state: SessionState,
  run: Run,
  isWritten: (row: Written) => boolean,
  changes: Changes,
): void {
  const unread = new Set<string>();
  const isDropped = ({ kind, id }: Part) => {
    const item = kind === "item" ? state.items.get(id) : undefined;
    if (!item || !isWritten(item)) return false;
    if (item.kind === "steer") unread.add(item.message.id);
    return true;
  };
  dropParts(state, run.id, isDropped, changes);
  for (const call of callsOf(state, run.id)) {
    if (isWritten(call)) putCall(state, { ...call, withdrawn: true }, changes);
  }
  const steers = run.steers?.map((steer) =>
    unread.has(steer.messageId) ? omit(steer, "consumed") : steer,
  );
  putRun(state, { ...run, ...(steers && { steers }) }, changes);
}

function clientTools(state: SessionState): Pick<Run, "clientTools"> {
  const tools = state.session.advertised.map(({ tool }) => tool);
  return tools.length > 0 ? { clientTools: tools } : {};
}

function beginStep(event: EventOf<"step.started">, { attempt }: Entry): Step {
  const { stepId: id, stepAttempt, producer, seq } = event;
  const isNamed = attempt !== undefined && producer !== undefined && seq !== undefined;
  return {
    id,
    attempt: stepAttempt,
    status: "open",
    ...(isNamed && { startedBy: { attempt, producer, seq } }),
  };
}

/**
 * The pieces of a run's content that may belong to a round: those since it opened, in log order. Costs what came since,
 * not what the run is made of.
 */
export function partsSince(state: SessionState, runId: string, round: number): readonly Part[] {
  const parts = partsOf(state, runId);
  const id = roundId(runId, round);
  const from = parts.findLastIndex((part) => part.id === id && part.kind === "item");
  return parts.slice(Math.max(from, 0));
}

/** The id of the item that begins a round. */
export function roundId(runId: string, round: number): string {
  return `round:${runId}:${round}`;
}

function newRun(id: string, entry: Entry, agent: string, parentId: string | undefined): Run {
  return {
    id,
    ...(parentId !== undefined && { parentId }),
    offset: entry.offset,
    agent,
    status: "queued",
    behind: [],
    queuedAt: entry.at,
    attempt: 0,
    claims: true,
    tools: [],
    toolsComplete: false,
    losses: 0,
    news: false,
    round: 0,
    openRounds: [],
  };
}
