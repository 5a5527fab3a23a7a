import type { Approval, Call, Json, Verdict } from "@holdfast/protocol";
import { useMemo } from "react";
import type { DecideOptions, Session } from "../client/index.ts";
import { sameList, useSelection } from "./selection.ts";
import { selectCalls } from "./use-tool-calls.ts";

/** A call that waits for somebody's decision. Its methods decide on exactly what is shown here, or throw `stale_decision`. */
export interface ApprovalRequest {
  readonly call: Call;
  readonly approval: Approval;
  /** False where the provider signed the request. */
  readonly editable: boolean;
  readonly approve: (options?: { readonly reason?: string }) => Promise<Verdict>;
  /** Approves, and lets the tool run without asking for the rest of the session; `session.revokeApproval` takes it back. */
  readonly approveAlways: (options?: { readonly reason?: string }) => Promise<Verdict>;
  readonly deny: (reason?: string) => Promise<Verdict>;
  /** Approves with other arguments: text as it is, a value as JSON. @throws `invalid_arguments`, `edit_unsupported` */
  readonly edit: (args: Json, options?: { readonly reason?: string }) => Promise<Verdict>;
}

/** The calls of a session that wait for a decision, oldest first. A request is the same object while its call is. */
export function useApprovals(session: Session): readonly ApprovalRequest[] {
  const select = useMemo(() => selectApprovals(), []);
  return useSelection(session, select);
}

function selectApprovals(): (session: Session) => readonly ApprovalRequest[] {
  const gated = selectCalls(undefined, ["gated"]);
  const known = new WeakMap<Call, ApprovalRequest>();
  return sameList((session) =>
    gated(session).flatMap((call) => {
      if (!call.approval) return [];
      const request = known.get(call) ?? requestOf(session, call, call.approval);
      known.set(call, request);
      return [request];
    }),
  );
}

function requestOf(session: Session, call: Call, approval: Approval): ApprovalRequest {
  const decide = (
    approved: boolean,
    reason: string | undefined,
    more: Pick<DecideOptions, "arguments" | "always"> = {},
  ) =>
    session.decide(call.id, {
      ...more,
      approved,
      approvalId: approval.id,
      // Hidden from who does not see the tool's data: the id alone says which request is meant.
      ...(approval.digest !== "" && { digest: approval.digest }),
      ...(reason !== undefined && { reason }),
    });
  return {
    call,
    approval,
    editable: approval.signed !== true,
    approve: ({ reason } = {}) => decide(true, reason),
    approveAlways: ({ reason } = {}) => decide(true, reason, { always: true }),
    deny: (reason) => decide(false, reason),
    edit: (args, { reason } = {}) =>
      decide(true, reason, {
        arguments: typeof args === "string" ? args : JSON.stringify(args),
      }),
  };
}
