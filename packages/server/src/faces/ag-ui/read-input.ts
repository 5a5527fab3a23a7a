import { HoldfastError, reject } from "@holdfast/protocol";
import { enforceAgUiInput, type AgUiInput, type Peer } from "@holdfast/protocol/ag-ui";
import { isObject } from "@holdfast/protocol/schemas";
import type { Joining } from "./connect.ts";

/**
 * A posted input, without what AG-UI does not know.
 *
 * @throws HoldfastError `invalid_request` for a malformed one, saying where
 */
export function readInput(body: unknown): AgUiInput {
  const { value, violation } = enforceAgUiInput(body);
  if (value) return value;
  const what = violation?.message ?? "The body is no RunAgentInput.";
  throw new HoldfastError(reject("invalid_request", what));
}

/**
 * What somebody posts who joins: an input, or as much of it as it likes.
 *
 * @throws HoldfastError `invalid_request` where what is there of it is malformed
 */
export function readJoining(body: unknown): Joining {
  const runId = textIn(body, "runId");
  const protocolVersion = textIn(body, "protocolVersion");
  const peer = peerOf(protocolVersion === undefined ? {} : { protocolVersion });
  const joining = { peer, ...(runId !== undefined && { runId }) };
  if (!isObject(body) || body["messages"] === undefined) return joining;
  const said = { messages: body["messages"], ...("state" in body && { state: body["state"] }) };
  const { messages, state } = readInput({ threadId: "-", runId: "-", ...said });
  return { ...joining, holds: { messages, ...(state !== undefined && { state }) } };
}

/** @throws HoldfastError `invalid_request` for a member that is there and no string */
export function textIn(body: unknown, name: string): string | undefined {
  const value = isObject(body) ? body[name] : undefined;
  if (value === undefined || typeof value === "string") return value;
  throw new HoldfastError(reject("invalid_request", `${name}: must be a string.`));
}

/** Which version of the protocol a client speaks. One of before 1.0 names none. */
export function peerOf({ protocolVersion }: { readonly protocolVersion?: string }): Peer {
  return protocolVersion === undefined || protocolVersion.startsWith("0.") ? "0" : "1.0";
}
