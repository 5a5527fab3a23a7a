import type { Call, Json } from "@holdfast/protocol";
import type { Session } from "./session.ts";

/**
 * A call of a provided tool that somebody may see to here. Its methods settle without throwing: that another was first
 * shows in the request that follows, and anything else that goes wrong is for the provider's `onError`.
 */
export interface ToolRequest {
  readonly call: Call;
  /** `waiting`: nobody has it. `here`: this page claimed it, or is about to. `elsewhere`: its claim is another's. */
  readonly status: "waiting" | "here" | "elsewhere";
  /** Claims the call, where it waits, and executes it here. Resolves once that has ended, however it has; pressed again, it does nothing. */
  readonly run: () => Promise<void>;
  /** Answers in place of the tool, as a person does who knows the result; what runs here is aborted. */
  readonly answer: (value: Json) => Promise<void>;
  /** Ends the call unexecuted; the model reads the reason. What runs here is aborted. */
  readonly decline: (reason: string) => Promise<void>;
}

type Status = ToolRequest["status"];

/** What requests do. */
interface Acts {
  readonly run: (call: Call) => Promise<void>;
  /** @param how is given the claim that this page has on the call, if it has one */
  readonly act: (
    call: Call,
    how: (claimId: string | undefined) => Promise<unknown>,
  ) => Promise<void>;
}

/** Makes a tool's list of requests: the same list, of the same requests, where nothing changed. */
export function createRequests(session: Session, acts: Acts) {
  const known = new WeakMap<Call, Map<Status, ToolRequest>>();
  const lists = new Map<string, readonly ToolRequest[]>();

  return (
    tool: string,
    calls: readonly (readonly [call: Call, status: Status])[],
  ): readonly ToolRequest[] => {
    const before = lists.get(tool) ?? [];
    const next = calls.map(([call, status]) => {
      let byStatus = known.get(call);
      if (!byStatus) known.set(call, (byStatus = new Map<Status, ToolRequest>()));
      const request = byStatus.get(status) ?? requestOf(session, acts, call, status);
      byStatus.set(status, request);
      return request;
    });
    const isSame = before.length === next.length && next.every((it, at) => it === before[at]);
    const list = isSame ? before : next;
    lists.set(tool, list);
    return list;
  };
}

function requestOf(session: Session, { run, act }: Acts, call: Call, status: Status): ToolRequest {
  const under = (claimId: string | undefined) => (claimId === undefined ? {} : { claimId });
  return {
    call,
    status,
    run: () => (status === "waiting" ? run(call) : Promise.resolve()),
    answer: (value) => act(call, (claimId) => session.answer(call.id, value, under(claimId))),
    decline: (reason) => act(call, (claimId) => session.decline(call.id, reason, under(claimId))),
  };
}
