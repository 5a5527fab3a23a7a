import type { Call } from "@holdfast/protocol";
import { createContext, useContext, type ReactNode } from "react";

/** What a person decides about a gated call. */
export interface Choice {
  readonly approved: boolean;
  readonly reason?: string;
  /** Edit-then-approve: the arguments' text to run with instead. */
  readonly arguments?: string;
  /** The tool runs without asking from now on, in this session. */
  readonly always?: boolean;
}

/** What the page asks of its session. Each resolves once the server has said yes and rejects with its refusal. */
export interface SessionActions {
  readonly send: (text: string) => Promise<void>;
  /** Sends a message that the active run reads next, in place of one that waits for its end. */
  readonly steer: (text: string) => Promise<void>;
  cancelRun(runId: string): Promise<void>;
  cancelCall(callId: string): Promise<void>;
  decide(call: Call, choice: Choice): Promise<void>;
  /** The tool asks again. */
  revokeApproval(tool: string): Promise<void>;
}

/** What components need to know about the session they are shown in. */
export interface Seat {
  /** The principal that this page speaks as. */
  readonly me: string;
  readonly actions: SessionActions;
  /** What a card shows while a client tool waits for a device; undefined for a tool this page has no way to run. */
  clientPanel(call: Call): ReactNode;
}

const SeatContext = createContext<Seat | undefined>(undefined);
export const SeatProvider = SeatContext.Provider;

export function useSeat(): Seat {
  const seat = useContext(SeatContext);
  if (!seat) throw new Error("Nothing above this component provides a Seat.");
  return seat;
}
