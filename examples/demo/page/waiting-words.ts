import type { Waiting } from "@holdfast/protocol";
import { nameOf } from "./format.ts";

/** For whom something waits, as the end of "Waits for …". */
export function waitingWords({ kind, who, calls, runs }: Waiting): string {
  if (runs !== undefined && runs.length > 0) return "the run before it to end";
  switch (kind) {
    case "person":
      return calls && calls.length > 1 ? "people" : "a person to decide";
    case "client":
      return who === undefined ? "a device that runs it" : `${nameOf(who)}'s device`;
    case "agent":
      return who === undefined ? "the agent" : nameOf(who);
    case "worker":
      return "an agent to take it up";
    case "nobody":
      return "nobody";
  }
}
