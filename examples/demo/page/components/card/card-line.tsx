import type { Call } from "@holdfast/protocol";
import { ranFor, type CallFace } from "../../call-face.ts";
import { duration } from "../../format.ts";
import { gistOf } from "../../gist.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Icon } from "../icons.tsx";

interface CardLineProps {
  readonly call: Call;
  readonly face: CallFace;
  readonly open: boolean;
  readonly controls: string;
  readonly onToggle: () => void;
}

/** The line a closed card consists of: icon, name, the most telling arguments, state, time taken. */
export function CardLine({ call, face, open, controls, onToggle }: CardLineProps) {
  return (
    <button
      type="button"
      className="card-line"
      aria-expanded={open}
      aria-controls={open ? controls : undefined}
      onClick={onToggle}
    >
      <span className="card-icon">
        <Icon name={face.icon} />
      </span>
      <span className="card-name">{call.name}</span>
      <span className="card-gist">{open ? "" : gistOf(call)}</span>
      <span className="card-state">
        {face.word}
        <Taken call={call} />
      </span>
      <span className="card-chevron">
        <Icon name="chevron" />
      </span>
    </button>
  );
}

function Taken({ call }: { readonly call: Call }) {
  const settled = call.status === "settled";
  const now = useNow(settled ? 3_600_000 : 1_000);
  const ms = ranFor(call, now);
  if (ms === undefined || (!settled && ms < 2_000)) return null;
  return <span className="number"> · {duration(settled ? ms : Math.floor(ms / 1000) * 1000)}</span>;
}
