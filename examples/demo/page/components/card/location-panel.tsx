import { useId, useState } from "react";
import { Icon } from "../icons.tsx";
import { Mishap } from "../mishap.tsx";

/** Where this page stands with a request for its location. */
export type LocationPhase =
  /** Anybody may still share. */
  | { readonly type: "offered"; readonly again?: boolean }
  /** This page claimed the call and asks the browser. */
  | { readonly type: "locating" }
  /** The browser would not say, and the call was given back; a person may say. */
  | { readonly type: "asking"; readonly why: string }
  /** Somebody else's page has it. */
  | { readonly type: "elsewhere"; readonly who: string };

interface LocationPanelProps {
  readonly phase: LocationPhase;
  readonly error?: unknown;
  readonly onShare: () => void;
  readonly onPlace: (place: string) => void;
  readonly onDecline: () => void;
}

/** Asks before a location leaves the device; a place may be typed instead, or the request declined. */
export function LocationPanel({ phase, error, onShare, onPlace, onDecline }: LocationPanelProps) {
  const [typing, setTyping] = useState(false);
  if (phase.type === "elsewhere")
    return <p className="label">Waiting for {phase.who} to share a location.</p>;
  if (phase.type === "locating") return <p className="label">Asking this browser where it is…</p>;
  const asking = phase.type === "asking";
  return (
    <div className="stack">
      <p className="panel-sentence">{asking ? phase.why : "The agent asks where you are."}</p>
      <p className="label">
        {asking
          ? "Type a place instead, or decline. Other devices may still share theirs."
          : phase.type === "offered" && phase.again
            ? "A device took it and gave no answer. Share this one's location, type a place, or decline."
            : "Everyone in this session would see the answer. The first device that shares it answers for all."}
      </p>
      {asking || typing ? (
        <PlaceForm onPlace={onPlace} onDecline={onDecline} />
      ) : (
        <div className="row">
          <button type="button" className="button primary" onClick={onShare}>
            <Icon name="place" />
            Share location
          </button>
          <button type="button" className="button" onClick={onDecline}>
            Decline
          </button>
          <button type="button" className="button quiet" onClick={() => setTyping(true)}>
            Type a place
          </button>
        </div>
      )}
      <Mishap error={error} />
    </div>
  );
}

function PlaceForm({
  onPlace,
  onDecline,
}: {
  readonly onPlace: (place: string) => void;
  readonly onDecline: () => void;
}) {
  const [place, setPlace] = useState("");
  const id = useId();
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (place.trim() !== "") onPlace(place.trim());
      }}
    >
      <label className="label" htmlFor={id}>
        Place
      </label>
      <input
        id={id}
        className="field"
        value={place}
        maxLength={100}
        placeholder="Oslo"
        autoFocus
        onChange={(event) => setPlace(event.target.value)}
      />
      <div className="row">
        <button type="submit" className="button primary" disabled={place.trim() === ""}>
          Use this place
        </button>
        <button type="button" className="button" onClick={onDecline}>
          Decline
        </button>
      </div>
    </form>
  );
}
