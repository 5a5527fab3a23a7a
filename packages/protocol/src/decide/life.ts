import { canonical } from "../canonical.ts";
import type { Command, CommandBody, SessionUpdate } from "../command.ts";
import { bytesBeyond } from "../json-size.ts";
import { patchMetadata } from "../metadata.ts";
import { RUN_TABLE } from "../run-table.ts";
import type { SessionState } from "../state.ts";
import type { Draft } from "./draft.ts";
import { endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { phaseOf } from "./queue.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";

/** Changes a session's metadata and time to live. What says nothing new changes nothing. */
export function updateSession(draft: Draft, { metadata, ttlMs }: SessionUpdate, env: Env): Ruling {
  const { session } = draft.state;
  const patched = metadata && patchMetadata(session.metadata, metadata);
  const limit = env.limits?.eventBytes ?? Infinity;
  const value = bytesBeyond(patched, limit);
  if (value !== undefined) {
    return refuse(
      "too_large",
      `The session's metadata would have ${value} bytes, and may have ${limit}: take some away.`,
      { limit, value },
    );
  }
  const isSame =
    (patched === undefined || canonical(patched) === canonical(session.metadata ?? {})) &&
    (ttlMs === undefined || (ttlMs ?? undefined) === session.ttlMs);
  if (isSame) return REPEATED;
  record(draft, env, {
    type: "session.updated",
    ...(metadata && { metadata }),
    ...(ttlMs !== undefined && { ttlMs }),
  });
  return APPLIED;
}

/** Ends every run of the session with its calls, and closes it for good, in one commit (SPEC 5.11.2). */
export function closeSession(
  draft: Draft,
  { reason }: Extract<CommandBody, { type: "session.close" }>,
  env: Env,
): Ruling {
  const { state } = draft;
  if (state.session.closed) return REPEATED;
  // The last of them first, so that no run is freed that ends in the same commit.
  for (const id of [...state.index.live].toReversed()) {
    const run = state.runs.get(id);
    if (!run || RUN_TABLE.cancel[phaseOf(run)] !== "cancel") continue;
    endRun(draft, env, run, {
      outcome: "cancelled",
      reason: "session_closed",
      calls: { outcome: "cancelled", reason: "session_closed" },
    });
  }
  record(draft, env, { type: "session.closed", ...(reason !== undefined && { reason }) });
  return APPLIED;
}

/** Refuses what would begin or prepare something new in a session that is closed. */
export function refuseClosed(
  { session }: SessionState,
  { type }: Pick<Command, "type">,
): Ruling | undefined {
  const { closed } = session;
  if (!closed || !BEGINS.has(type)) return undefined;
  return refuse(
    "session_closed",
    `This session was closed by ${closed.by}, for good: read it, or make another.`,
    { ...closed },
  );
}

const BEGINS: ReadonlySet<Command["type"]> = new Set<Command["type"]>([
  "message.send",
  "tools.advertise",
  "policy.set",
  "approval.revoke",
]);
