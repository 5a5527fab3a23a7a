import type { ViewNode } from "@holdfast/protocol";
import type { Session } from "../client/index.ts";
import { useSelection } from "./selection.ts";

/**
 * The conversation to show, oldest first. Nodes and parts are the same objects while nothing in them changed: give
 * them to memoised components, keyed by `id`, and a token renders only the part it belongs to.
 */
export function useView(session: Session): readonly ViewNode[] {
  return useSelection(session, viewOfSession);
}

const viewOfSession = (session: Session) => session.view();
