import { post, tokenOf } from "./appends.ts";

export interface TimersResult {
  readonly timers: number;
  /** From the first deadline until all of them had come, seen from outside. */
  readonly allMs: number;
  /** How long after its own deadline a call ended. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

const SESSIONS = 100;
const EACH = 10;
/** How long after the beginning the first is due: all are set until then. */
const AHEAD_MS = 10_000;

/** A thousand calls over a hundred sessions, one of them due in every millisecond of one second. */
export async function timers(url: string): Promise<TimersResult> {
  const user = await tokenOf(url, { name: "bench" });
  const first = Date.now() + AHEAD_MS;
  const names = Array.from({ length: SESSIONS }, (_, n) => `timers-${first}-${n}`);
  for (let n = 0; n < SESSIONS; n += 10) {
    const some = names.slice(n, n + 10);
    await Promise.all(some.map((name, index) => arrange(url, user, name, first + n + index)));
  }
  if (Date.now() > first) throw new Error("Setting the timers took too long.");
  const calls: Call[] = [];
  for (const name of names) calls.push(...(await settled(url, user, name)));
  const last = Date.now();
  const late = calls.map(({ deadlineAt, settledAt }) => settledAt - deadlineAt);
  late.sort((a, b) => a - b);
  const at = (share: number) =>
    late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? 0;
  return {
    timers: calls.length,
    allMs: last - Math.min(...calls.map(({ deadlineAt }) => deadlineAt)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    worstMs: at(1),
  };
}

interface Call {
  readonly deadlineAt: number;
  readonly settledAt: number;
}

/** A session whose calls are due from `first` on, a hundred milliseconds apart. */
async function arrange(url: string, user: string, name: string, first: number): Promise<void> {
  const path = `${url}/v1/sessions/${name}`;
  await post(path, user, { agent: name }, "PUT");
  const message = { id: "send", type: "message.send", messageId: "m", content: "Go." };
  await post(`${path}/commands`, user, message);
  const agent = await tokenOf(url, { agent: name });
  const now = Date.now();
  const tools = Array.from({ length: EACH }, (_, n) => ({
    name: `page-${n}`,
    executor: "client",
    deadlineMs: first + n * SESSIONS - now,
  }));
  const claim = { agent: name, worker: "bench", waitMs: 5_000, tools };
  const { work } = (await post(`${url}/v1/work/claim`, agent, claim)) as {
    work: { runId: string; attempt: number; token: string };
  };
  const { runId, attempt } = work;
  const fence = { runId, attempt, producer: "main" };
  const calls = tools.flatMap(({ name: toolCallName }, n) => [
    { type: "TOOL_CALL_START", toolCallId: `c${n}`, toolCallName },
    { type: "TOOL_CALL_END", toolCallId: `c${n}` },
  ]);
  const items = [{ type: "round.open" }, ...calls, { type: "round.close" }];
  const append = { id: "append", type: "run.append", ...fence, seq: 1, items };
  await post(`${path}/commands`, work.token, append);
  const finish = { id: "finish", type: "run.finish", ...fence, seq: 2 };
  await post(`${path}/commands`, work.token, finish);
}

/** A session's calls, once all of them have ended; asked for again until then, but not before they are due. */
async function settled(url: string, user: string, name: string): Promise<Call[]> {
  for (;;) {
    const response = await fetch(`${url}/v1/sessions/${name}/state`, {
      headers: { authorization: `Bearer ${user}` },
    });
    const { state } = (await response.json()) as { state: { calls: Partial<Call>[] } };
    const calls = state.calls.filter((call): call is Call => call.settledAt !== undefined);
    if (calls.length === EACH) return calls;
    const next = Math.max(...state.calls.map(({ deadlineAt = 0 }) => deadlineAt)) - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(next, 5)));
  }
}
