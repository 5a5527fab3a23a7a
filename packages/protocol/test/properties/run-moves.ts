import { pathTo, type AgentItem, type CommandBody, type Run } from "@holdfast/protocol";
import type { Desk } from "../support/desk.ts";
import { stepMoves } from "./step-moves.ts";
import {
  ARGUMENTS,
  CALL_IDS,
  newest,
  phaseOf,
  PRODUCERS,
  TOOL_NAMES,
  TOOLS,
  type Moves,
} from "./world.ts";

const ACTIVE = ["queue", "concurrent", "refuse", "replace", "steer"] as const;
const PENDING = ["abandon", "queue", "refuse"] as const;
const MESSAGES = 10;
const CALLS = 14;

/** What people, workers, agents and leases may do to a run. */
export function runMoves(desk: Desk, run: Run, moves: Moves): void {
  const pair = (trigger: string) => `run ${phaseOf(run)} / ${trigger}`;
  startMoves(desk, run, moves);
  const cancel = { type: "run.cancel", runId: run.id } as const;
  const isSpared = run.status === "active" && desk.now() % 3 > 0;
  if (!isSpared) moves.all.push({ pair: pair("cancel"), act: () => desk.user(cancel) });
  for (const attempt of [Math.max(run.attempt, 1), run.attempt - 1]) {
    if (attempt < 1) continue;
    const age = attempt === run.attempt || run.attempt === 0 ? "" : ":older";
    const agent = desk.agent(run.id, attempt);
    const heartbeat = { type: "run.heartbeat", runId: run.id, attempt } as const;
    const lose = () => {
      desk.timer({ type: "lease", runId: run.id, attempt });
      return undefined;
    };
    moves.all.push(
      { pair: pair(`append${age}`), act: () => agent.append({ type: "round.open" }) },
      { pair: pair(`step.start${age}`), act: () => agent.startStep("a") },
      { pair: pair(`heartbeat${age}`), act: () => agent.command(heartbeat) },
      {
        pair: pair(`hold${age}`),
        act: () => agent.command({ ...heartbeat, until: desk.now() + 100 }),
      },
      { pair: pair(`finish${age}`), act: () => agent.finish() },
      { pair: pair(`release${age}`), act: () => agent.command(release(agent.fence())) },
      { pair: pair(`hole${age}`), act: () => agent.command(append(agent.fence(), 3)) },
      { pair: pair(`lease${age}`), act: lose },
    );
    if (!isSpared || age !== "")
      moves.all.push({ pair: pair(`fail${age}`), act: () => agent.fail() });
    if (run.status === "active" && age === "")
      moves.main.push({ pair: pair("lease"), act: lose }, { pair: pair("lease"), act: lose });
  }
  if (run.status !== "active") return;
  activeMoves(desk, run, moves);
  stepMoves(desk, run, moves);
}

function release(fence: ReturnType<ReturnType<Desk["agent"]>["fence"]>): CommandBody {
  return { type: "run.release", ...fence };
}

function append(fence: ReturnType<ReturnType<Desk["agent"]>["fence"]>, ahead: number): CommandBody {
  return { type: "run.append", ...fence, seq: fence.seq + ahead, items: [] };
}

/** What people may do to the session: messages under every policy, above all. */
export function sessionMoves(desk: Desk, { main, all }: Moves): void {
  const { state } = desk;
  const messageId = `m${state.messages.size + 1}`;
  // The last node may be a message that steers a run.
  const path = pathTo(state, state.index.nodes.at(-1) ?? "");
  const tip = state.runs.get(path.findLast((id) => state.runs.has(id)) ?? "");
  for (const whileActive of ACTIVE) {
    for (const whilePending of PENDING) {
      const policy =
        tip?.status === "suspended" ? `pending:${whilePending}` : `message:${whileActive}`;
      const body = {
        type: "message.send",
        messageId,
        content: "hi",
        whileActive,
        whilePending,
      } as const;
      const move = {
        pair: tip ? `run ${phaseOf(tip)} / ${policy}` : "run none / message",
        act: () => desk.user(body),
      };
      const isSpared = whileActive === "replace" && desk.now() % 3 > 0;
      if (state.messages.size < MESSAGES && !isSpared) all.push(move);
      if (state.index.live.size === 0 && state.messages.size < MESSAGES) main.push(move);
    }
  }
  for (const invalidArguments of ["answer", "offer"] as const)
    all.push({
      pair: "session / policy.set",
      act: () => desk.user({ type: "policy.set", policy: { invalidArguments } }),
    });
  const request = {
    ...({ type: "run.request", digest: "d", of: { messageId: "m1" } } as const),
    requestId: `request-${state.index.requests.size % 3}`,
    input: { state: state.messages.size },
  };
  all.push({ pair: "session / run.request", act: () => desk.user(request) });
  const revoke = { type: "approval.revoke", tool: "gated-job" } as const;
  all.push({ pair: "session / approval.revoke", act: () => desk.user(revoke) });
  const tools = [{ name: "page", executor: "client" as const }];
  all.push({
    pair: "session / tools.advertise",
    act: () => desk.user({ type: "tools.advertise", tools }),
  });
  all.push({
    pair: "session / message that exists",
    act: () => desk.user({ type: "message.send", messageId: "m1", content: "" }),
  });
}

function startMoves(desk: Desk, run: Run, { main, all }: Moves): void {
  const pair = (trigger: string) => `run ${phaseOf(run)} / ${trigger}`;
  const begin = (start: Parameters<Desk["start"]>[1], trigger: string) => ({
    pair: pair(trigger),
    act() {
      desk.start(run.id, start);
      return undefined;
    },
  });
  const starts = [
    begin({ claims: true }, "start"),
    begin({ claims: false, tools: TOOLS }, "start"),
    begin({ claims: true, complete: true }, "start"),
  ];
  all.push(...starts, begin({ wakeId: "wrong" }, "start:wrong"));
  if (run.startedBy !== undefined) all.push(begin({ wakeId: run.startedBy }, "start:again"));
  if (phaseOf(run) === "queued") main.push(...starts, ...starts);
}

/** What the current attempt of a run at work may append and finish with. */
function activeMoves(desk: Desk, run: Run, { main, all }: Moves): void {
  const add = (weight: number, ...items: AgentItem[]) => {
    for (const producer of PRODUCERS) {
      const agent = () => desk.agent(run.id, run.attempt, producer);
      const move = { pair: "run active / append", act: () => agent().append(...items) };
      all.push(move);
      for (let left = weight; left > 0; left -= 1) main.push(move);
    }
  };
  add(2, { type: "round.open" });
  add(12, { type: "round.close" });
  const withdraw = () => desk.agent(run.id).append({ type: "round.withdraw" });
  all.push({ pair: "run active / withdraw", act: withdraw });
  textMoves(desk, run, add);
  add(1, { type: "CUSTOM", name: "note", value: null }, { type: "STATE_SNAPSHOT", snapshot: [] });
  add(1, { type: "run.annotate", metadata: { codec: { n: desk.now() } } });
  const calls = [...desk.state.calls.values()].filter((call) => call.runId === run.id);
  const finish = { pair: "run active / finish", act: () => desk.agent(run.id).finish() };
  if (calls.some((call) => ["gated", "claimed", "open"].includes(call.status)))
    for (let left = 5; left > 0; left -= 1) main.push(finish);
  if (calls.length >= CALLS) {
    main.push(finish);
    return;
  }
  for (const toolCallName of TOOL_NAMES) {
    const at = (calls.length + toolCallName.length) % CALL_IDS.length;
    const toolCallId = CALL_IDS[at] ?? "";
    const provided = toolCallName === "provided";
    const delta = ARGUMENTS[(calls.length + at) % ARGUMENTS.length] ?? "";
    const start: AgentItem = {
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName,
      ...(provided && { metadata: { holdfast: { executor: "provider" } } }),
    };
    add(0, start);
    add(toolCallName.startsWith("gated") ? 3 : 1, start, ...argumentsOf(toolCallId, delta));
    if (toolCallName.endsWith("e") || toolCallName === "job") add(2, start);
  }
}

function argumentsOf(toolCallId: string, text: string): AgentItem[] {
  return [
    { type: "TOOL_CALL_ARGS", toolCallId, delta: text.slice(0, 2) },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: text.slice(2) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

function textMoves(
  desk: Desk,
  run: Run,
  add: (weight: number, ...items: AgentItem[]) => void,
): void {
  const texts = newest(desk.state.items.values(), 40).filter(
    (item) => item.runId === run.id && (item.kind === "text" || item.kind === "reasoning"),
  );
  const messageId = `t${desk.state.items.size}.${run.id}`;
  add(
    2,
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "Let " },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "me " },
  );
  add(1, { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
  for (const item of newest(texts, 2)) {
    const { id, kind } = item;
    const weight = "status" in item && item.status === "open" ? 8 : 0;
    const type = `${kind === "text" ? "TEXT" : "REASONING"}_MESSAGE_CONTENT` as const;
    const metadata = { codec: { a: 1 } };
    add(weight, { type, messageId: id, delta: "see" }, { type, messageId: id, delta: ". " });
    add(0, { type, messageId: id, delta: "", metadata });
    add(1, { type: kind === "text" ? "TEXT_MESSAGE_END" : "REASONING_MESSAGE_END", messageId: id });
    add(0, { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
  }
}
