import { createHash } from "node:crypto";
import {
  createDraft,
  createSession,
  decide,
  decideTimer,
  emptyState,
  fromRows,
  parseOffset,
  producerKey,
  startRun,
  toOffset,
  type AgentItem,
  type Command,
  type CommandBody,
  type ContentLimits,
  type Entry,
  type Env,
  type Frame,
  type Policy,
  type Ruling,
  type Run,
  type Sealed,
  type SessionState,
  type Start,
  type StateRows,
  type Timer,
  type ToolDeclaration,
  type TouchedRow,
  type Verdict,
} from "@holdfast/protocol";
import { freeze, freezeRows, isSame, photograph } from "./photograph.ts";

export interface DeskOptions {
  readonly tools?: ToolDeclaration[];
  readonly complete?: boolean;
  readonly claims?: boolean;
  readonly policy?: Partial<Policy>;
  readonly limits?: ContentLimits;
  /** Says whether to end the batch after a command; a batch left open goes on with the next. Default: always. */
  readonly seals?: () => boolean;
  /** Keeps rows as a storage would, from what each batch says it touched. */
  readonly stores?: boolean;
  /** A session that is there already. Default: a new one. */
  readonly from?: {
    readonly offset: string;
    readonly rows: StateRows;
    /** The time it is, Unix milliseconds. */
    readonly now: number;
  };
}

/**
 * A session on a desk: the pure core with a hand-set clock and counted ids, no server. Keeps every entry, so that a
 * test can compare what was decided with what a reader reduces. Rows are frozen, and every refusal is checked to have
 * left everything as it was.
 */
export function openDesk(options: DeskOptions = {}) {
  const { from } = options;
  const state: SessionState = from
    ? fromRows(from.offset, from.rows)
    : emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  const { epoch, seq } = parseOffset(state.head) ?? { epoch: "test", seq: 0 };
  const draft = createDraft(state, epoch, seq);
  const entries: Entry[] = [];
  const frames: Frame[] = [];
  const stored = new Map<string, string>();
  const ids = new Map<string, number>();
  let now = from?.now ?? 1_000;
  let commands = 0;

  const env = (principal: string, attempt?: { runId: string; attempt: number }): Env => ({
    now,
    ...(options.limits && { limits: options.limits }),
    actor: { principal, ...(attempt && { attempt }) },
    newId(kind) {
      const n = (ids.get(kind) ?? 0) + 1;
      ids.set(kind, n);
      return `${kind}${n}`;
    },
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    validate(tool, value) {
      if (tool.parameters?.["unusable"]) return { message: "The schema cannot be used." };
      const required = (tool.parameters?.["required"] ?? []) as string[];
      const missing = required.filter((name) => !Object.hasOwn(Object(value), name));
      return missing.length > 0
        ? { message: `Missing ${missing.join(", ")}.`, paths: missing.map((name) => `/${name}`) }
        : undefined;
    },
  });

  const seal = (): Sealed => {
    const sealed = draft.seal();
    freeze(sealed.entries);
    entries.push(...sealed.entries);
    if (options.stores) for (const row of sealed.touched) store(stored, row, state);
    if (sealed.entries.length > 0) frames.push({ after: sealed.after, entries: sealed.entries });
    return sealed;
  };
  const acts: (Act & { readonly after: number })[] = [];
  let logged = 0;
  const note = (act: Act) => {
    acts.push({ ...act, after: logged });
    logged = entries.length;
  };
  const settle = () => {
    freezeRows(state);
    if (options.seals?.() ?? true) seal();
  };
  const { policy } = options;
  if (!from) createSession(draft, { agent: "demo", ...(policy && { policy }) }, env("user:ana"));
  settle();

  const desk = {
    state,
    entries,
    frames,
    stored,
    env,
    draft,
    seal,
    now: () => now,
    options,
    /** All that was done here, in order, for whoever does it again elsewhere. */
    acts,
    /** How long the log was before the n-th act. */
    entriesAt: (act: number): number => acts[act]?.after ?? entries.length,
    tick(ms: number) {
      now += ms;
      note({ type: "tick", ms });
    },
    command: (body: CommandBody, actor: Env): Verdict =>
      desk.decide({ id: `c${(commands += 1)}`, ...body }, actor),
    /** Hears of every command that was decided. */
    onCommand: undefined as OnCommand | undefined,
    decide(command: Command, actor: Env): Verdict {
      const verdict = desk.repeat(command, actor);
      desk.onCommand?.(command, actor.actor, verdict);
      return verdict;
    },
    /** Decides without a word to whoever listens. */
    repeat(command: Command, actor: Env): Verdict {
      const before = photograph(state);
      const { head } = state;
      freeze(command);
      const verdict = decide(draft, command, actor);
      if (verdict.status === "rejected" && !isSame(before, photograph(state)))
        throw new Error(`${command.type} was refused (${verdict.error?.code}) and left a trace`);
      if (isRefusedWhole(command, verdict) && state.head !== head)
        throw new Error("Every item of a batch was refused, and it wrote something");
      settle();
      note({ type: "command", command, actor: actor.actor, verdict });
      return verdict;
    },
    user: (body: CommandBody, name = "ana") => desk.command(body, env(`user:${name}`)),
    send(messageId: string, more: object = {}): string {
      const verdict = desk.user({ type: "message.send", messageId, content: messageId, ...more });
      return verdict.runId ?? "";
    },
    start(runId: string, start: Partial<Start> = {}) {
      const { tools, complete, claims = true } = options;
      const wakeId = state.runs.get(runId)?.wakeId ?? "";
      const before = photograph(state);
      const asked: Start = {
        runId,
        wakeId,
        worker: "w1",
        claims,
        ...(tools && { tools }),
        ...(complete && { complete }),
        ...start,
      };
      const ruling = startRun(draft, asked, env("agent:demo"));
      if (ruling.error && !isSame(before, photograph(state)))
        throw new Error(`A start was refused (${ruling.error.code}) and left a trace`);
      settle();
      note({ type: "start", start: asked, ruling });
      return ruling;
    },
    /** An attempt of a run, as its worker sees it; its current one by default. */
    agent(
      runId: string,
      attempt = state.runs.get(runId)?.attempt ?? 0,
      producer = "main",
      step?: { stepId: string; stepAttempt: number },
    ) {
      const actor = () => env("agent:demo", { runId, attempt });
      const fence = () => {
        const seq = (state.producers.get(producerKey({ runId, attempt, producer }))?.seq ?? 0) + 1;
        return { runId, attempt, producer, seq, ...step };
      };
      return {
        fence,
        /** The same attempt at a step; at its latest attempt by default. */
        step(stepId: string, stepAttempt = stepOf(stepId)) {
          return desk.agent(runId, attempt, producer, { stepId, stepAttempt });
        },
        startStep: (stepId: string) =>
          desk.command({ type: "step.start", ...fence(), stepId }, actor()),
        endStep: (stepId: string, stepAttempt = stepOf(stepId)) =>
          desk.command({ type: "step.end", ...fence(), stepId, stepAttempt }, actor()),
        append: (...items: AgentItem[]) =>
          desk.command({ type: "run.append", ...fence(), items }, actor()),
        finish: () => desk.command({ type: "run.finish", ...fence() }, actor()),
        fail: (code = "broken") =>
          desk.command({ type: "run.fail", ...fence(), error: { code, message: code } }, actor()),
        command: (body: CommandBody) => desk.command(body, actor()),
      };

      function stepOf(stepId: string): number {
        return state.runs.get(runId)?.steps?.find(({ id }) => id === stepId)?.attempt ?? 1;
      }
    },
    timer(timer: Timer) {
      decideTimer(draft, timer, env("server"));
      settle();
      note({ type: "timer", timer });
    },
    run: (id: string): Run => {
      const run = state.runs.get(id);
      if (!run) throw new Error(`no run ${id}`);
      return run;
    },
    call: (id: string) => {
      const call = state.calls.get(id);
      if (!call) throw new Error(`no call ${id}`);
      return call;
    },
  };
  return desk;
}

/** One thing that was done at the desk. */
export type Act =
  | { readonly type: "tick"; readonly ms: number }
  | { readonly type: "timer"; readonly timer: Timer }
  | { readonly type: "start"; readonly start: Start; readonly ruling: Ruling }
  | {
      readonly type: "command";
      readonly command: Command;
      readonly actor: Env["actor"];
      readonly verdict: Verdict;
    };

/** A batch that was taken, though none of its items was. */
function isRefusedWhole(command: Command, { skipped }: Verdict): boolean {
  if (command.type !== "run.append") return false;
  const { items, joined } = command;
  const sent = joined ? joined.reduce((sum, count) => sum + count, 0) : items.length;
  return sent === skipped?.length;
}

type OnCommand = (command: Command, actor: Env["actor"], verdict: Verdict) => void;

export type Desk = ReturnType<typeof openDesk>;

function store(stored: Map<string, string>, { kind, id }: TouchedRow, state: SessionState): void {
  if (kind === "producer") return;
  const rows = { message: state.messages, run: state.runs, item: state.items, call: state.calls };
  const row = kind === "session" ? state.session : rows[kind].get(id);
  if (row) stored.set(`${kind} ${id}`, JSON.stringify(row));
  else stored.delete(`${kind} ${id}`);
}

/** The items of one complete proposal. */
export function proposal(callId: string, name: string, args = "{}"): AgentItem[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: callId, toolCallName: name },
    { type: "TOOL_CALL_ARGS", toolCallId: callId, delta: args },
    { type: "TOOL_CALL_END", toolCallId: callId },
  ];
}

/** The verdict of a command that must have been applied whole. */
export function applied(verdict: Verdict): Verdict {
  const refused = verdict.error ?? verdict.skipped?.[0]?.error;
  if (refused) throw new Error(`${refused.code}: ${refused.message}`);
  return verdict;
}
