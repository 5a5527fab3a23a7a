import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SeatProvider, type Seat } from "../session-actions.ts";
import "../styles/index.css";
import { Gallery } from "./gallery.tsx";
import { ana } from "./fixtures.ts";
import { LocationPanel } from "../components/card/location-panel.tsx";

const later = () => Promise.resolve();
const nothing = () => {};
const seat: Seat = {
  me: ana,
  actions: {
    send: later,
    steer: later,
    cancelRun: later,
    cancelCall: later,
    decide: later,
    revokeApproval: later,
  },
  clientPanel: (call) => (
    <LocationPanel
      phase={
        call.claim
          ? { type: "elsewhere", who: "Ben" }
          : { type: "offered", again: call.manual ?? false }
      }
      onShare={nothing}
      onPlace={nothing}
      onDecline={nothing}
    />
  ),
};

const root = document.getElementById("root");
if (!root) throw new Error("gallery.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <SeatProvider value={seat}>
      <Gallery />
    </SeatProvider>
  </StrictMode>,
);
