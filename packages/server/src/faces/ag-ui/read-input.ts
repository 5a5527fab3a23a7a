import { HoldfastError, reject } from "@holdfast/protocol";
import { enforceAgUiInput, type AgUiInput, type Peer } from "@holdfast/protocol/ag-ui";

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

/** Which version of the protocol a client speaks. One of before 1.0 names none. */
export function peerOf({ protocolVersion }: { readonly protocolVersion?: string }): Peer {
  return protocolVersion === undefined || protocolVersion.startsWith("0.") ? "0" : "1.0";
}
