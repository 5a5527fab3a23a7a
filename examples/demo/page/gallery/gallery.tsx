import { HoldfastError } from "@holdfast/protocol";
import type { ReactNode } from "react";
import { ApprovalPanel } from "../components/card/approval-panel.tsx";
import { CallCard } from "../components/card/call-card.tsx";
import { EditForm } from "../components/card/edit-form.tsx";
import { LocationPanel } from "../components/card/location-panel.tsx";
import { Composer } from "../components/composer.tsx";
import { ConnectionChip } from "../components/connection-chip.tsx";
import { Conversation } from "../components/conversation.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Header } from "../components/header.tsx";
import { Mishap } from "../components/mishap.tsx";
import { NameForm } from "../components/name-form.tsx";
import { Queue } from "../components/queue.tsx";
import { Rail } from "../components/rail/rail.tsx";
import { RailPlace } from "../components/rail/rail-place.tsx";
import { calls } from "./calls.ts";
import { ends, facts, nodes, steered, streaming } from "./conversation.ts";
import { ana, ben, message, now, run, transfer } from "./fixtures.ts";
import "./gallery.css";

const later = () => Promise.resolve();
const nothing = () => {};
const part = new URLSearchParams(location.search).get("part") ?? "page";

/** Each state of each component, from fixtures; `?part=` picks which. */
export function Gallery() {
  switch (part) {
    case "cards":
    case "cards-open":
      return <Cards />;
    case "parts":
      return <Parts />;
    case "name":
      return <NameForm session="quiet-harbour-7f3k" onName={later} />;
    case "empty":
      return <Page nodes={[]} sheet={false} />;
    case "sheet":
      return <Page nodes={nodes} sheet />;
    default:
      return <Page nodes={nodes} sheet={false} />;
  }
}

function Page({ nodes: shown, sheet }: { nodes: typeof nodes; sheet: boolean }) {
  const wide = matchMedia("(min-width: 1100px)").matches;
  return (
    <div className="app">
      <Header
        session="quiet-harbour-7f3k"
        people={[ana, ben]}
        me={ana}
        connection={{ type: "live" }}
        railOpen={wide}
        onRail={nothing}
      />
      <main className="main">
        <Conversation sent={0} nodes={shown} empty={<EmptyState onAsk={later} />} />
        <div className="foot">
          {shown.length > 0 && <Queue queued={queued} />}
          <Composer
            active={false}
            pending={undefined}
            onSend={later}
            onStop={later}
            onSteer={undefined}
          />
        </div>
      </main>
      <RailPlace open={wide || sheet} onClose={nothing}>
        <Rail {...facts} />
      </RailPlace>
    </div>
  );
}

const queued = [
  { message: message("And what is it in Bergen?", ben, 5), run: run({ attempt: 0 }) },
];

function Cards() {
  return (
    <main className="gallery">
      {calls.map(([title, call]) => (
        <Exhibit key={title} title={title}>
          <CallCard call={call} />
        </Exhibit>
      ))}
    </main>
  );
}

function Parts() {
  const gated = transfer({ status: "gated" });
  return (
    <main className="gallery">
      <Exhibit title="Connection">
        <div className="row">
          <ConnectionChip connection={{ type: "connecting" }} />
          <ConnectionChip connection={{ type: "live" }} />
          <ConnectionChip
            connection={{ type: "reconnecting", retryAt: now + 60_000, waiting: 0 }}
          />
          <ConnectionChip connection={{ type: "offline", waiting: 2 }} />
          <ConnectionChip connection={{ type: "closed", why: "the session was deleted" }} />
        </div>
      </Exhibit>
      <Exhibit title="Edit before approving">
        <EditForm call={gated} busy={false} onApprove={nothing} onBack={nothing} />
      </Exhibit>
      <Exhibit title="Approval">
        <ApprovalPanel call={gated} />
      </Exhibit>
      <Exhibit title="Location: the browser would not say">
        <LocationPanel
          phase={{ type: "asking", why: "This browser was not allowed to say where it is." }}
          onShare={nothing}
          onPlace={nothing}
          onDecline={nothing}
        />
      </Exhibit>
      <Exhibit title="A refusal">
        <Mishap
          error={
            new HoldfastError({
              code: "stale_decision",
              message: "The arguments changed since they were shown: look at them again.",
            })
          }
        />
      </Exhibit>
      <Exhibit title="Composer while a run is active">
        <Queue queued={queued} />
        <Composer active pending={undefined} onSend={later} onStop={later} onSteer={later} />
      </Exhibit>
      <Exhibit title="Streaming text">
        <Conversation sent={0} nodes={streaming} empty={null} />
      </Exhibit>
      <Exhibit title="A message that steers a run">
        <Conversation sent={0} nodes={steered} empty={null} />
      </Exhibit>
      <Exhibit title="How runs end">
        <Conversation sent={0} nodes={ends} empty={null} />
      </Exhibit>
    </main>
  );
}

function Exhibit({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="exhibit">
      <h2 className="label">{title}</h2>
      {children}
    </section>
  );
}
