import type { Call } from "@holdfast/protocol";
import { useCallback, useSyncExternalStore, type ReactNode } from "react";
import { LocationPanel } from "../components/card/location-panel.tsx";
import type { LocationDesk } from "../location-desk.ts";

/** Renders the panel of a client call that this page has a way to run. */
export function useClientPanel(desk: LocationDesk): (call: Call) => ReactNode {
  return useCallback(
    (call) => (call.name === "location" ? <WiredLocation call={call} desk={desk} /> : undefined),
    [desk],
  );
}

function WiredLocation({ call, desk }: { readonly call: Call; readonly desk: LocationDesk }) {
  const read = () => JSON.stringify(desk.phase(call));
  useSyncExternalStore(desk.subscribe, read);
  const error = useSyncExternalStore(desk.subscribe, () => desk.error(call.id));
  return (
    <LocationPanel
      phase={desk.phase(call)}
      error={error}
      onShare={() => void desk.share(call)}
      onPlace={(place) => void desk.place(call, place)}
      onDecline={() => void desk.decline(call)}
    />
  );
}
