import { count } from "../format.ts";
import { useNow } from "../hooks/use-now.ts";

/** How this page is connected to its server. `waiting` counts commands without a verdict. */
export type Connection =
  | { readonly type: "connecting" | "live" }
  | { readonly type: "reconnecting"; readonly retryAt: number; readonly waiting: number }
  | { readonly type: "offline"; readonly waiting: number }
  | { readonly type: "closed"; readonly why: string };

/** The connection in a word: live, reconnecting in 3 s, offline with 2 messages waiting. */
export function ConnectionChip({ connection }: { readonly connection: Connection }) {
  const now = useNow(connection.type === "reconnecting" ? 500 : 3_600_000);
  return (
    <span className="chip" data-connection={connection.type} role="status">
      <span className="chip-dot" aria-hidden="true" />
      <span className="number">{words(connection, now)}</span>
    </span>
  );
}

function words(connection: Connection, now: number): string {
  switch (connection.type) {
    case "connecting":
      return "connecting";
    case "live":
      return "live";
    case "reconnecting": {
      const seconds = Math.ceil((connection.retryAt - now) / 1_000);
      const when = seconds > 0 ? `reconnecting in ${seconds} s` : "reconnecting";
      return `${when}${waitingWords(connection.waiting)}`;
    }
    case "offline":
      return `offline${waitingWords(connection.waiting)}`;
    case "closed":
      return `closed: ${connection.why}`;
  }
}

function waitingWords(waiting: number): string {
  return waiting === 0 ? "" : `, ${count(waiting, "message")} waiting`;
}
