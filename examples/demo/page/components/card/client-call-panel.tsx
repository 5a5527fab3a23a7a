import type { Call } from "@holdfast/protocol";
import { nameOf } from "../../format.ts";
import { useSeat } from "../../session-actions.ts";
import { Clock } from "../time.tsx";

/** Which device may run a client tool, who claimed it, and this page's own way to run it. */
export function ClientCallPanel({ call }: { readonly call: Call }) {
  const seat = useSeat();
  const panel = seat.clientPanel(call);
  return (
    <section className="panel client-call" aria-label="Runs on a device">
      {call.claim && (
        <p className="label">
          {call.claim.by === seat.me ? "You" : nameOf(call.claim.by)} claimed it ·{" "}
          <Clock at={call.claim.at} />
        </p>
      )}
      {panel ??
        (call.status === "open" && (
          <p className="label">
            {call.manual
              ? "The device that claimed it went away. A person has to answer or cancel it."
              : "Any open page of this session that has this tool may run it. This one does not."}
          </p>
        ))}
    </section>
  );
}
