import { createHash } from "node:crypto";
import {
  createDraft,
  createSession,
  decide,
  decideTimer,
  emptyState,
  reduceAll,
  startRun,
  toOffset,
  type AgentItem,
  type Call,
  type CallHints,
  type CommandBody,
  type Entry,
  type Env,
  type SessionState,
  type Timer,
  type ToolDeclaration,
  type Verdict,
} from "@holdfast/protocol";

const EPOCH = "t";
const AT = 1_700_000_000_000;

/** A session with one message and its run, decided by the real rules, with a clock that stands still. */
export interface TestSession {
  readonly runId: string;
  readonly state: SessionState;
  readonly entries: readonly Entry[];
  /** What a reader gets who reads the whole log over the wire. */
  reread(): SessionState;
  /** Codes of the items that were refused so far. */
  readonly refused: readonly string[];
  append(items: readonly AgentItem[]): void;
  /** A command of the attempt's, of a person's. */
  agent(command: CommandBody): Verdict;
  user(command: CommandBody): Verdict;
  /** A person's decision on the approval with this id. */
  decide(
    approvalId: string,
    approved: boolean,
    more?: { reason?: string; arguments?: string },
  ): void;
  call(id: string): Call;
  finish(): void;
  fail(): void;
  /** Starts the run's next attempt; says its number. */
  start(): number;
  timer(timer: Timer): void;
}

export function testSession(
  options: { tools?: ToolDeclaration[]; complete?: boolean } = {},
): TestSession {
  const state = emptyState(toOffset(EPOCH, 0), { id: "session-1", createdAt: AT });
  const draft = createDraft(state, EPOCH, 0);
  const sealed: Entry[] = [];
  const refused: string[] = [];
  let ids = 0;
  let commands = 0;
  let seq = 0;

  const env = (principal: string, attempt?: { runId: string; attempt: number }): Env => ({
    now: AT,
    actor: { principal, ...(attempt && { attempt }) },
    newId: (kind) => (kind === "run" ? `run-${commands}` : `${kind}-${(ids += 1)}`),
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    validate: () => undefined,
  });
  const command = (body: CommandBody, as: Env) => {
    const verdict = decide(draft, { id: `command-${(commands += 1)}`, ...body }, as);
    if (verdict.error) refused.push(verdict.error.code);
    refused.push(...(verdict.skipped ?? []).map(({ error }) => error.code));
    return verdict;
  };

  createSession(draft, { agent: "agent" }, env("user:ana"));
  const sent = command(
    { type: "message.send", messageId: "message-1", content: "Go." },
    env("user:ana"),
  );
  const runId = sent.runId ?? "";
  const attempt = () => ({ runId, attempt: state.runs.get(runId)?.attempt ?? 0 });
  const fence = () => ({ ...attempt(), producer: "main", seq: (seq += 1) });
  const agent = (body: CommandBody) => command(body, env("agent:agent", attempt()));
  const user = (body: CommandBody) => command(body, env("user:ana"));

  const session: TestSession = {
    runId,
    state,
    refused,
    agent,
    user,
    get entries() {
      sealed.push(...draft.seal().entries);
      return sealed;
    },
    reread: () => stateOf(JSON.parse(JSON.stringify(session.entries)) as Entry[]),
    append: (items) => void agent({ type: "run.append", ...fence(), items }),
    decide(approvalId, approved, more = {}) {
      const call = [...state.calls.values()].find((it) => it.approval?.id === approvalId);
      if (!call) throw new Error(`Nothing waits for a decision "${approvalId}".`);
      const verdict = user({ type: "call.decide", callId: call.id, approvalId, approved, ...more });
      if (verdict.error) throw new Error(verdict.error.message);
    },
    call(id) {
      const call = state.calls.get(id);
      if (!call) throw new Error(`The session has no call "${id}".`);
      return call;
    },
    finish: () => void agent({ type: "run.finish", ...fence() }),
    fail() {
      agent({ type: "run.fail", ...fence(), error: { code: "broken", message: "It broke." } });
    },
    start() {
      const wakeId = state.runs.get(runId)?.wakeId ?? "";
      const tools = options.tools && { tools: options.tools };
      const complete = options.complete && { complete: true };
      const start = { runId, wakeId, worker: "worker-1", claims: true, ...tools, ...complete };
      const { error } = startRun(draft, start, env("agent:agent"));
      if (error) throw new Error(error.message);
      seq = 0;
      return attempt().attempt;
    },
    timer: (timer) => decideTimer(draft, timer, env("server")),
  };
  session.start();
  return session;
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
