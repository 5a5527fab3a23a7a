import type { Call, CallStatus, SessionState } from "@holdfast/protocol";
import { useMemo } from "react";
import type { Session } from "../client/index.ts";
import { sameList, useSelection } from "./selection.ts";

export interface CallFilter {
  readonly name?: string | readonly string[];
  readonly status?: CallStatus | readonly CallStatus[];
}

/** A session's calls in the order they were proposed, superseded and withdrawn ones left out. A call is a new object when it changed. */
export function useToolCalls(session: Session, filter: CallFilter = {}): readonly Call[] {
  const names = listOf(filter.name);
  const statuses = listOf(filter.status);
  const key = JSON.stringify([names, statuses]);
  // The key says all there is in the filter, whose objects are new in every render.
  // eslint-disable-next-line react/exhaustive-deps
  const select = useMemo(() => selectCalls(names, statuses), [key]);
  return useSelection(session, select);
}

/** Calls that pass; a text token costs nothing, since no call changed. */
export function selectCalls(
  names: readonly string[] | undefined,
  statuses: readonly string[] | undefined,
): (session: Session) => readonly Call[] {
  let state: SessionState | undefined;
  let revision = -1;
  let calls: readonly Call[] = [];
  const filtered = sameList(({ state: { calls: all } }) =>
    [...all.values()].filter(
      (call) =>
        !call.withdrawn &&
        call.outcome !== "superseded" &&
        (names?.includes(call.name) ?? true) &&
        (statuses?.includes(call.status) ?? true),
    ),
  );
  return (session) => {
    if (state === session.state && revision === state.index.callRevision) return calls;
    state = session.state;
    revision = state.index.callRevision;
    calls = filtered(session);
    return calls;
  };
}

function listOf<T extends string>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  return typeof value === "string" ? [value] : value;
}
