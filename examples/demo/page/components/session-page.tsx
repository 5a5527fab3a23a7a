import type { Client, Session, SessionStatus } from "@holdfast/sdk/client";
import { useSession, useToolCalls, useView } from "@holdfast/sdk/react";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { peopleOf, runFacts } from "../facts.ts";
import { useLocation } from "../hooks/use-location.tsx";
import type { Identity } from "../identity.ts";
import { createOutgoing, type Outgoing } from "../outgoing.ts";
import { SeatProvider, type Seat } from "../session-actions.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import type { Connection } from "./connection-chip.tsx";
import { Conversation } from "./conversation.tsx";
import { EmptyState } from "./empty-state.tsx";
import { Header } from "./header.tsx";
import { OutgoingList } from "./outgoing-list.tsx";
import { Queue } from "./queue.tsx";
import { LiveRail } from "./rail/live-rail.tsx";
import { isRailBeside, RailPlace } from "./rail/rail-place.tsx";

interface SessionPageProps {
  readonly id: string;
  readonly client: Client;
  readonly identity: Identity;
  /** The server does not take the token any more. */
  readonly onStale: () => void;
}

/** One session: its conversation, what can be asked of it, and what the server knows. */
export function SessionPage({ id, client, identity, onStale }: SessionPageProps) {
  const me = identity.principal;
  const { session, status } = useSession(id, { client, create });
  const nodes = useView(session);
  const calls = useToolCalls(session);
  const outgoing = useMemo(() => createOutgoing(session), [session]);
  const waiting = useSyncExternalStore(outgoing.subscribe, outgoing.list);
  const [sent, setSent] = useState(0);
  const send = useCallback<Outgoing["send"]>(
    (text, how) => {
      setSent((times) => times + 1);
      return outgoing.send(text, how);
    },
    [outgoing],
  );
  const seat = useSeatOf(session, me, send);
  const { shown, queued, activeRunId, steerable, pending } = useMemo(
    () => runFacts(nodes),
    [nodes],
  );
  const people = useMemo(() => peopleOf(nodes, me), [nodes, me]);
  const [railOpen, setRailOpen] = useState(isRailBeside);
  const stale = status.type === "closed" && status.error?.code === "unauthenticated";
  useEffect(() => {
    if (stale) onStale();
  }, [stale, onStale]);
  return (
    <SeatProvider value={seat}>
      <div className="app">
        <Header
          session={id}
          people={people}
          me={me}
          connection={connectionOf(status, waiting.length)}
          railOpen={railOpen}
          onRail={() => setRailOpen(!railOpen)}
        />
        <main className="main">
          <Conversation
            nodes={shown}
            sent={sent}
            empty={status.type !== "connecting" && <EmptyState onAsk={seat.actions.send} />}
          />
          <div className="foot">
            <OutgoingList messages={waiting} />
            <Queue queued={queued} />
            <Composer
              active={activeRunId !== undefined}
              pending={pending}
              onSend={seat.actions.send}
              onSteer={steerable ? seat.actions.steer : undefined}
              onStop={() =>
                activeRunId === undefined ? Promise.resolve() : seat.actions.cancelRun(activeRunId)
              }
            />
          </div>
        </main>
        <RailPlace open={railOpen} onClose={() => setRailOpen(false)}>
          <LiveRail session={session} token={identity.token} />
        </RailPlace>
        <Announcer calls={calls} />
      </div>
    </SeatProvider>
  );
}

const create = { agent: "demo" };

function useSeatOf(session: Session, me: string, send: Outgoing["send"]): Seat {
  const clientPanel = useLocation(session, me);
  return useMemo(
    () => ({
      me,
      clientPanel,
      actions: {
        send: (text) => send(text),
        steer: (text) => send(text, { whileActive: "steer" }),
        revokeApproval: async (tool) => void (await session.revokeApproval(tool)),
        cancelRun: async (runId) => void (await session.cancelRun(runId)),
        cancelCall: async (callId) => void (await session.cancelCall(callId)),
        decide: async (call, choice) =>
          void (await session.decide(call.id, {
            ...choice,
            // What was shown, so that nothing else can be approved by this press.
            ...(call.approval && { approvalId: call.approval.id, digest: call.approval.digest }),
          })),
      },
    }),
    [session, me, send, clientPanel],
  );
}

function connectionOf(status: SessionStatus, waiting: number): Connection {
  switch (status.type) {
    case "connecting":
    case "live":
      return { type: status.type };
    case "reconnecting":
      return { type: "reconnecting", retryAt: status.retryAt, waiting };
    case "offline":
      return { type: "offline", waiting };
    case "closed":
      return { type: "closed", why: status.error?.message ?? "reload the page" };
  }
}
