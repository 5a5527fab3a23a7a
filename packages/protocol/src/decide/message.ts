import type { MessageSend } from "../command.ts";
import type { ErrorCode } from "../errors.ts";
import { RUN_TABLE, type RunTrigger } from "../run-table.ts";
import type { Run } from "../run.ts";
import { callsOf, tipOf, type SessionState } from "../state.ts";
import type { Draft } from "./draft.ts";
import { endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { phaseOf } from "./queue.ts";
import { record, refuse, type Ruling } from "./ruling.ts";

/**
 * Adds a user's message and the run that will answer it. What it does to un-ended runs on its path is policy: all
 * refusals first, then one commit.
 */
export function sendMessage(draft: Draft, command: MessageSend, env: Env): Ruling {
  const { state } = draft;
  const { messageId } = command;
  if (state.messages.has(messageId) || state.runs.has(messageId)) {
    return refuse(
      "message_exists",
      `This session already has a node ${messageId}: give each message an id of its own.`,
    );
  }
  const parentId = command.parentId ?? tipOf(state);
  if (parentId !== undefined && !state.messages.has(parentId) && !state.runs.has(parentId)) {
    return refuse(
      "unknown_node",
      `This session has no node ${parentId}: send the message without parentId, or below one it has.`,
    );
  }
  const policy = {
    ...state.session.policy,
    ...(command.whileActive && { whileActive: command.whileActive }),
    ...(command.whilePending && { whilePending: command.whilePending }),
  };
  const moves = liveRunsOnPath(state, parentId).map((run) => {
    const trigger: RunTrigger =
      run.status === "suspended"
        ? `pending:${policy.whilePending}`
        : `message:${policy.whileActive}`;
    return { run, move: RUN_TABLE[trigger][phaseOf(run)] };
  });
  for (const { run, move } of moves) {
    if (move === "run_active" || move === "calls_pending") return refuseMessage(move, run, state);
  }
  // The last of them first, so that no run is freed that ends in the same commit.
  for (const { run, move } of moves.toReversed()) {
    if (move === "cancel") {
      endRun(draft, env, run, {
        outcome: "cancelled",
        reason: "replaced",
        calls: { outcome: "cancelled", reason: "run_replaced" },
      });
    } else if (move === "abandon") {
      endRun(draft, env, run, {
        outcome: "complete",
        reason: "abandoned",
        calls: { outcome: "abandoned", reason: "superseded_by_new_message" },
      });
    }
  }
  const last = moves.at(-1);
  if (last?.move === "steer") return steer(draft, command, parentId, last.run, env);
  // Behind a run that is queued, to steer one before it would be to overtake.
  const behind = moves
    .filter(({ move }) => move === "wait" || move === "steer")
    .map(({ run }) => run.id);
  record(draft, env, {
    type: "message.added",
    messageId,
    role: "user",
    content: command.content,
    ...(parentId !== undefined && { parentId }),
    ...(command.metadata && { metadata: command.metadata }),
  });
  const runId = env.newId("run");
  record(
    draft,
    env,
    { type: "run.added", parentId: messageId, agent: state.session.agent },
    { runId },
  );
  const ready = behind.length === 0 ? { wakeId: env.newId("wake") } : { behind };
  record(draft, env, { type: "run.queued", reason: "added", ...ready }, { runId });
  return { runId };
}

/** The message is the run's to read in its next round; it stands at the tip of the path, and has no run of its own. */
function steer(
  draft: Draft,
  { messageId, content, metadata }: MessageSend,
  parentId: string | undefined,
  { id: runId }: Run,
  env: Env,
): Ruling {
  record(draft, env, {
    type: "message.added",
    messageId,
    role: "user",
    content,
    ...(parentId !== undefined && { parentId }),
    steers: runId,
    ...(metadata && { metadata }),
  });
  record(draft, env, { type: "run.steered", messageId }, { runId });
  return { runId };
}

function refuseMessage(
  code: Extract<ErrorCode, "run_active" | "calls_pending">,
  run: Run,
  state: SessionState,
): Ruling {
  if (code === "run_active")
    return refuse(code, `Run ${run.id} is ${run.status}: wait for its end, or cancel it.`, {
      runId: run.id,
    });
  const pending = callsOf(state, run.id).filter(({ status }) => status !== "settled");
  return refuse(code, `Run ${run.id} waits for calls: answer or cancel them first.`, {
    runId: run.id,
    calls: pending.map(({ id }) => id),
  });
}

/** Un-ended runs among a node and what it stands on, oldest first. Stops as soon as all live ones are met. */
function liveRunsOnPath(state: SessionState, nodeId: string | undefined): Run[] {
  const found: Run[] = [];
  let id = nodeId;
  while (id !== undefined && found.length < state.index.live.size) {
    const run = state.runs.get(id);
    if (run && run.status !== "ended") found.unshift(run);
    id = (run ?? state.messages.get(id))?.parentId;
  }
  return found;
}
