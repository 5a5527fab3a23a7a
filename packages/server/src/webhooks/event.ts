import { hash } from "node:crypto";
import { waitingOf, type SessionState, type WebhookEvent } from "@holdfast/protocol";
import { waitOf, type DeliveryKind } from "../engine/index.ts";

/**
 * What is to be told of a run or call, and the id it is told under; undefined where nothing ever will be. Whether a call
 * waits for people just now, its index row says.
 */
export function eventOf(
  session: string,
  state: SessionState,
  kind: DeliveryKind,
  about: string,
): { readonly id: string; readonly event: WebhookEvent } | undefined {
  if (kind === "wake") {
    const run = state.runs.get(about);
    if (run?.status !== "queued" || run.wakeId === undefined) return undefined;
    const { id: runId, wakeId, agent, queuedAt: at } = run;
    return { id: wakeId, event: { type: "run.wake", session, runId, wakeId, agent, at } };
  }
  const call = state.calls.get(about);
  const run = call && state.runs.get(call.runId);
  if (!call || !run || call.status === "settled") return undefined;
  if (kind === "escalated" && call.escalatedAt === undefined) return undefined;
  const type = kind === "waiting" ? "call.waiting" : "call.escalate";
  const wait = kind === "waiting" ? waitOf(call) : String(call.escalatedAt);
  return {
    id: `msg_${hash("sha256", JSON.stringify([session, call.id, type, wait]), "hex").slice(0, 32)}`,
    event: {
      type,
      session,
      runId: run.id,
      callId: call.id,
      agent: run.agent,
      tool: call.name,
      waiting: waitingOf(call),
    },
  };
}
