import {
  createDraft,
  emptyState,
  reduceAll,
  toOffset,
  type AgentItem,
  type Call,
  type CallHints,
  type Entry,
  type Event,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";

const EPOCH = "t";
const AT = 1_700_000_000_000;

/** A session with one run, as far as a codec sees of it. */
export interface TestSession {
  readonly runId: string;
  /** The state as it stands, and what the log says when it is read back over the wire. */
  readonly state: SessionState;
  reread(): SessionState;
  readonly entries: readonly Entry[];
  append(items: readonly AgentItem[]): void;
  /** A person's decision on the approval with this id. */
  decide(approvalId: string, approved: boolean, reason?: string): void;
  /** An event of the server's own, about the run unless it names a call. */
  emit(event: Event, actor?: string): void;
  /** Ends the attempt and starts the next. */
  restart(): number;
}

/**
 * Stands in for the server: turns an attempt's items into events by the rules the server has for legal input.
 * Offsets, scopes and entries are the protocol's own.
 */
export function testSession(options: { tools?: ToolDeclaration[] } = {}): TestSession {
  const runId = "run-1";
  const state = emptyState(toOffset(EPOCH, 0), { id: "session-1", createdAt: AT });
  const draft = createDraft(state, EPOCH, 0);
  const sealed: Entry[] = [];
  let attempt = 0;
  let round: number | undefined;

  const emit = (event: Event, actor = "agent") =>
    draft.emit(
      { actor, now: AT },
      event,
      actor === "agent" ? { runId, attempt, ...(round !== undefined && { round }) } : { runId },
    );
  const emitRun = (event: Event) => draft.emit({ actor: "server", now: AT }, event, { runId });

  const callsOfRound = () => [...state.calls.values()].filter((call) => call.round === round);

  function closeRound() {
    if (round === undefined) return;
    for (const call of callsOfRound()) settleAtClose(call);
    emit({ type: "round.closed", round });
    round = undefined;
  }

  function settleAtClose(call: Call) {
    const callId = call.id;
    if (call.status === "streaming") {
      emit({ type: "call.settled", callId, outcome: "error", reason: "truncated" });
    } else if (call.status === "ended" && call.invalid) {
      emit({ type: "call.settled", callId, outcome: "error", reason: "invalid_arguments" });
    } else if (call.status === "ended" && call.approval && !call.approval.decision) {
      emit({ type: "call.gated", callId });
    } else if (call.status === "ended") {
      emit({ type: "call.opened", callId });
    }
  }

  function apply(item: AgentItem) {
    switch (item.type) {
      case "round.open":
        closeRound();
        round = (state.runs.get(runId)?.round ?? 0) + 1;
        return emit({ type: "round.opened", round });
      case "round.close":
        return closeRound();
      case "round.withdraw":
        if (round === undefined) return;
        for (const { id: callId, status } of callsOfRound()) {
          if (status === "settled") continue;
          emit({ type: "call.settled", callId, outcome: "superseded", reason: "round_superseded" });
        }
        emit({ type: "round.superseded", round, reason: item.reason ?? "reset" });
        round = undefined;
        return;
      case "run.annotate":
        return emit({ type: "run.annotated", metadata: item.metadata });
      case "call.annotate":
        return emit({ type: "call.annotated", callId: item.callId, metadata: item.metadata });
      case "call.replace_arguments": {
        const { callId, arguments: text } = item;
        return emit({ type: "call.arguments_replaced", callId, arguments: text });
      }
      case "call.invalidate":
        return emit({ type: "call.invalid", callId: item.callId, error: item.error });
      case "call.ask": {
        const { type: _, approvalId = "minted", ...asked } = item;
        return emit({
          type: "call.approval_requested",
          approvalId,
          by: "agent",
          digest: "",
          ...asked,
        });
      }
      case "call.progress": {
        const { claimId: _, ...progressed } = item;
        return emit({ ...progressed, type: "call.progressed" });
      }
      case "call.answer": {
        if (state.calls.get(item.callId)?.status === "settled") return;
        const { claimId: _, declined, messageId = `answer-${item.callId}`, ...answered } = item;
        return emit({
          ...answered,
          type: "call.answered",
          messageId,
          ...(declined && { reason: "declined" }),
        });
      }
      default:
        return emit(item);
    }
  }

  function start(): number {
    attempt += 1;
    emit({
      type: "attempt.started",
      worker: "worker-1",
      wakeId: `wake-${attempt}`,
      claims: true,
      ...(options.tools && { tools: options.tools }),
    });
    return attempt;
  }

  emitRun({ type: "session.created", agent: "agent" });
  emitRun({ type: "message.added", messageId: "message-1", role: "user", content: "Go." });
  emitRun({ type: "run.added", parentId: "message-1", agent: "agent" });
  start();

  return {
    runId,
    state,
    get entries() {
      sealed.push(...draft.seal().entries);
      return sealed;
    },
    reread() {
      return stateOf(JSON.parse(JSON.stringify(this.entries)) as Entry[]);
    },
    append(items) {
      for (const item of items) apply(item);
    },
    decide(approvalId, approved, reason) {
      const call = [...state.calls.values()].find((it) => it.approval?.id === approvalId);
      if (!call) throw new Error(`Nothing waits for a decision "${approvalId}".`);
      const callId = call.id;
      const because = reason === undefined ? {} : { reason };
      emit({ type: "call.decided", callId, approvalId, approved, digest: "", ...because }, "alice");
      if (approved && call.status === "gated") emit({ type: "call.opened", callId }, "alice");
    },
    emit,
    restart() {
      closeRound();
      emit({ type: "attempt.finished" });
      emitRun({ type: "run.queued", reason: "barrier", wakeId: `wake-${attempt + 1}` });
      return start();
    },
  };
}

/** The state that a whole log gives. */
export function stateOf(entries: readonly Entry[]): SessionState {
  const state = emptyState(toOffset(EPOCH, 0), { id: "session-1", createdAt: AT });
  reduceAll(state, entries);
  return state;
}

/** The same entries without what the codec keeps for itself. */
export function withoutMetadata(entries: readonly Entry[]): Entry[] {
  return JSON.parse(
    JSON.stringify(entries, (key, value: unknown) => {
      if (key !== "metadata" || typeof value !== "object" || value === null) return value;
      const { holdfast } = value as { holdfast?: CallHints };
      return holdfast ? { holdfast } : {};
    }),
  ) as Entry[];
}
