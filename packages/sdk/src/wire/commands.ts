import type { Verdict } from "@holdfast/protocol";
import { parseVerdicts } from "./messages.ts";
import { unreachable } from "./problem.ts";
import type { Transport } from "./transport.ts";

/**
 * Sends commands of one session, given as JSON text so that a retry says the very same, and gives their verdicts in
 * order, refusals among them. One try: what is transient is the caller's to send again.
 *
 * @throws {HoldfastError} what the server says of the request as a whole, or `unreachable`; the signal's reason
 */
export async function postCommands(
  transport: Transport,
  session: string,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const verdicts = await (transport.socket?.commands(session, commands, signal) ??
    post(transport, session, commands, signal));
  if (verdicts.length === commands.length) return verdicts;
  throw unreachable(
    `The server gave ${verdicts.length} verdicts for ${commands.length} commands: is it a Holdfast server?`,
  );
}

function post(
  transport: Transport,
  session: string,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  return transport.json(`/v1/sessions/${encodeURIComponent(session)}/commands`, {
    method: "POST",
    body: `{"commands":[${commands.join(",")}]}`,
    tries: 1,
    signal,
    parse: parseVerdicts,
  });
}
