import type { Session } from "@holdfast/sdk/client";
import { useMemo, useSyncExternalStore } from "react";
import { railFacts } from "../../facts.ts";
import { useLogTail } from "../../hooks/use-log-tail.ts";
import { entriesReader } from "../../open-client.ts";
import { Rail } from "./rail.tsx";

/** The rail of a session, live. */
export function LiveRail({
  session,
  token,
}: {
  readonly session: Session;
  readonly token: string;
}) {
  useSyncExternalStore(session.subscribe, () => session.version);
  const read = useMemo(() => entriesReader(token, session.id), [token, session.id]);
  const entries = useLogTail(session, read);
  return <Rail {...railFacts(session.state)} entries={entries} />;
}
