import { createHash } from "node:crypto";
import {
  createDraft,
  createSession,
  decide,
  decideTimer,
  emptyState,
  startRun,
  toOffset,
  type AgentItem,
  type CommandBody,
  type Entry,
  type Env,
  type Run,
  type SessionState,
  type Start,
  type Timer,
  type ToolDeclaration,
  type Verdict,
} from "@holdfast/protocol";

type Body<C = CommandBody> = C extends unknown
  ? Omit<C, "runId" | "attempt" | "producer" | "seq">
  : never;

/**
 * A session on a desk: the pure core with a hand-set clock and counted ids, no server. Keeps every entry, so that a
 * test can compare what was decided with what a reader reduces.
 */
export function openDesk(
  options: { tools?: ToolDeclaration[]; complete?: boolean; claims?: boolean } = {},
) {
  const state = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  const draft = createDraft(state, "test", 0);
  const entries: Entry[] = [];
  const ids = new Map<string, number>();
  const seqs = new Map<string, number>();
  let now = 1_000;
  let commands = 0;

  const env = (principal: string, attempt?: { runId: string; attempt: number }): Env => ({
    now,
    actor: { principal, ...(attempt && { attempt }) },
    newId(kind) {
      const n = (ids.get(kind) ?? 0) + 1;
      ids.set(kind, n);
      return `${kind}${n}`;
    },
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    validate(tool, value) {
      const required = (tool.parameters?.["required"] ?? []) as string[];
      const missing = required.filter((name) => !(name in (value as object)));
      return missing.length > 0
        ? { message: `Missing ${missing.join(", ")}.`, paths: missing.map((name) => `/${name}`) }
        : undefined;
    },
  });
  const collect = () => void entries.push(...draft.seal().entries);
  createSession(draft, { agent: "demo" }, env("user:ana"));
  collect();

  const desk = {
    state: state as SessionState,
    entries,
    env,
    draft,
    tick: (ms: number) => void (now += ms),
    command(body: CommandBody, actor: Env): Verdict {
      const verdict = decide(draft, { id: `c${(commands += 1)}`, ...body }, actor);
      collect();
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
      const ruling = startRun(
        draft,
        {
          runId,
          wakeId,
          worker: "w1",
          claims,
          ...(tools && { tools }),
          ...(complete && { complete }),
          ...start,
        },
        env("agent:demo"),
      );
      collect();
      return ruling;
    },
    /** The run's current attempt, as its worker sees it. */
    agent(runId: string, attempt = state.runs.get(runId)?.attempt ?? 0) {
      const actor = () => env("agent:demo", { runId, attempt });
      const fence = () => {
        const key = `${runId}/${attempt}`;
        const seq = (seqs.get(key) ?? 0) + 1;
        seqs.set(key, seq);
        return { runId, attempt, producer: "main", seq };
      };
      return {
        append: (...items: AgentItem[]) =>
          desk.command({ type: "run.append", ...fence(), items }, actor()),
        finish: () => desk.command({ type: "run.finish", ...fence() }, actor()),
        fail: (code = "broken") =>
          desk.command({ type: "run.fail", ...fence(), error: { code, message: code } }, actor()),
        command: (body: CommandBody) => desk.command(body, actor()),
      };
    },
    timer(timer: Timer) {
      decideTimer(draft, timer, env("server"));
      collect();
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

export type Desk = ReturnType<typeof openDesk>;
export type { Body };

/** The items of one complete proposal. */
export function proposal(callId: string, name: string, args = "{}"): AgentItem[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: callId, toolCallName: name },
    { type: "TOOL_CALL_ARGS", toolCallId: callId, delta: args },
    { type: "TOOL_CALL_END", toolCallId: callId },
  ];
}
