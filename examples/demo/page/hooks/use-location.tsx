import type { Call } from "@holdfast/protocol";
import type { Session, ToolRequest } from "@holdfast/sdk/client";
import { useClientTool } from "@holdfast/sdk/react";
import { useCallback, useState, type ReactNode } from "react";
import { LocationPanel, type LocationPhase } from "../components/card/location-panel.tsx";
import { nameOf } from "../format.ts";
import { whereAmI } from "../where-am-i.ts";

/**
 * Runs the client tool `location` where a person agrees to it: every page of the session offers it, the first where
 * somebody presses is granted the claim, and the others see who has it.
 *
 * @returns what a card shows of a call that this page may run
 */
export function useLocation(session: Session, me: string): (call: Call) => ReactNode {
  const [failed, setFailed] = useState<ReadonlyMap<string, string>>(new Map());
  const { requests, error } = useClientTool(
    session,
    {
      name: "location",
      description: "Where the person is",
      retry: "safe",
      async execute(_arguments, { callId, signal, release }) {
        const found = await whereAmI(signal);
        if (found.type === "found") return found.place;
        setFailed((before) => new Map(before).set(callId, found.why));
        // A person may know, here or elsewhere: nothing is held while they think.
        await release();
        return undefined;
      },
    },
    { confirm: true, heartbeatMs: 2_000 },
  );
  /** An error that was there when a button was pressed is not of that press. */
  const [past, setPast] = useState<unknown>();
  return useCallback(
    (call) => {
      const request = requests.find((it) => it.call.id === call.id);
      if (!request) return undefined;
      const press = (act: Promise<void>) => {
        setPast(error);
        void act;
      };
      return (
        <LocationPanel
          phase={phaseOf(request, me, failed.get(call.id))}
          error={error === past ? undefined : error}
          onShare={() => press(request.run())}
          onPlace={(place) => press(request.answer({ place, source: "typed by a person" }))}
          onDecline={() =>
            press(request.decline("The person would rather not say where they are."))
          }
        />
      );
    },
    [requests, me, failed, error, past],
  );
}

function phaseOf(
  { call, status }: ToolRequest,
  me: string,
  why: string | undefined,
): LocationPhase {
  switch (status) {
    case "here":
      return { type: "locating" };
    case "elsewhere":
      return {
        type: "elsewhere",
        who: !call.claim || call.claim.by === me ? "you, in another tab," : nameOf(call.claim.by),
      };
    case "waiting":
      if (why !== undefined) return { type: "asking", why };
      return { type: "offered", again: call.pastClaims !== undefined };
  }
}
