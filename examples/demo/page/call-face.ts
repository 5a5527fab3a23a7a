import type { Call } from "@holdfast/protocol";
import type { IconName } from "./components/icons.tsx";
import { nameOf } from "./format.ts";

/** How a call looks: its tone picks the colour, and colour, icon and word always come together. */
export interface CallFace {
  readonly tone: "running" | "waiting" | "done" | "failed" | "denied" | "gone";
  readonly icon: IconName;
  readonly word: string;
}

/** The face of each state and outcome of a call. */
export function faceOf(call: Call): CallFace {
  switch (call.status) {
    case "streaming":
      return running("writing arguments");
    case "ended":
      return running("about to run");
    case "gated":
      return waiting("waiting for approval");
    case "open":
      if (call.executor === "client")
        return waiting(call.manual ? "waiting for a person" : "waiting for a device");
      return running(call.approval?.decision ? "approved, about to run" : "about to run");
    case "claimed":
      return running(
        call.executor === "client" && call.claim
          ? `on ${nameOf(call.claim.by)}'s device`
          : "running",
      );
    case "settled":
      return settledFace(call);
  }
}

function settledFace(call: Call): CallFace {
  switch (call.outcome) {
    case "ok":
      return { tone: "done", icon: "check", word: "done" };
    case "denied":
      return { tone: "denied", icon: "no-entry", word: "denied" };
    case "cancelled":
      return gone("stop", "cancelled");
    case "expired":
      return gone("clock", "expired");
    case "abandoned":
      return gone("leave", "abandoned");
    case "superseded":
      return gone("leave", "superseded");
    default:
      return call.reason === "declined"
        ? { tone: "denied", icon: "no-entry", word: "declined" }
        : { tone: "failed", icon: "cross", word: "failed" };
  }
}

/** Whether a person has to see to this call, now or as soon as its arguments are complete. */
export function needsPerson(call: Call): boolean {
  switch (call.status) {
    case "streaming":
    case "ended":
      return call.executor === "client" || isGated(call);
    case "gated":
      return true;
    case "open":
    case "claimed":
      return call.executor === "client";
    case "settled":
      return false;
  }
}

/** Whether its tool asks a person first. */
function isGated(call: Call): boolean {
  const approval = call.tool?.approval ?? (call.tool?.sideEffects ? "always" : "never");
  return approval === "always";
}

/** How long it ran, from when somebody took it up; undefined while nobody has. Waiting for a person is no running. */
export function ranFor(call: Call, now: number): number | undefined {
  const began =
    call.history.findLast(({ what }) => what === "claimed") ??
    call.history.findLast(({ what }) => what === "opened");
  if (!began) return undefined;
  if (call.status === "claimed") return now - began.at;
  if (call.status !== "settled" || call.settledAt === undefined) return undefined;
  return call.outcome === "ok" || call.outcome === "error" ? call.settledAt - began.at : undefined;
}

function running(word: string): CallFace {
  return { tone: "running", icon: "running", word };
}

function waiting(word: string): CallFace {
  return { tone: "waiting", icon: "person", word };
}

function gone(icon: IconName, word: string): CallFace {
  return { tone: "gone", icon, word };
}
