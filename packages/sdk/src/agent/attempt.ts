import { HoldfastError, type CommandBody, type Verdict } from "@holdfast/protocol";
import {
  backoffMs,
  isTransient,
  postCommands,
  unreachable,
  type Batch,
  type Transport,
} from "../wire/index.ts";
import type { Work } from "./work.ts";

/** Which attempt it is, and how it is spoken for. */
export type AttemptName = Omit<Work, "wakeId" | "leaseMs">;

/** What everything that acts for one attempt shares. */
export interface Attempt {
  readonly work: AttemptName;
  /** Speaks with the attempt's token. */
  readonly transport: Transport;
  /** Aborted once the attempt is over for this process; the reason is a {@link HoldfastError}. */
  readonly signal: AbortSignal;
  /** How long to go on trying while the server cannot be reached, in milliseconds. */
  readonly patienceMs: number;
  /** When the server last heard of the attempt, Unix milliseconds. */
  heardAt: number;
  /** Says that the attempt is over; the first reason stands. */
  readonly lapse: (reason: HoldfastError) => void;
  /** A command id that no other process uses. */
  newId(): string;
}

export function createAttempt(
  work: AttemptName,
  transport: Transport,
  { instance, patienceMs }: { readonly instance: string; readonly patienceMs: number },
): Attempt {
  const controller = new AbortController();
  let commands = 0;
  return {
    work,
    transport,
    signal: controller.signal,
    patienceMs,
    heardAt: transport.timing.now(),
    lapse: (reason) => controller.abort(reason),
    newId: () => `${instance}.${work.runId}.${work.attempt}.${(commands += 1)}`,
  };
}

/**
 * Sends one command, given as JSON text, until the server gives its verdict. The very same bytes are sent again where
 * the network or the server's health failed, so the server recognises what it took already.
 *
 * @param append where it is a `run.append`: over a socket it is acknowledged with others
 * @throws {HoldfastError} the transient error once the attempt's patience is over; what the server says of the request
 * as a whole (`unauthenticated`, `unknown_session`, `too_large`, …); the signal's reason when the attempt lapsed
 */
export async function submit(attempt: Attempt, command: string, append?: Batch): Promise<Verdict> {
  const { transport, signal, work, patienceMs } = attempt;
  const { timing, backoff } = transport;
  const since = timing.now();
  for (let failures = 1; ; failures += 1) {
    try {
      signal.throwIfAborted();
      const sentAt = timing.now();
      const verdict =
        append && transport.socket
          ? await transport.socket.append(work.session, command, append, signal)
          : (await postCommands(transport, work.session, [command], signal))[0];
      if (!verdict) throw unreachable("The server gave no verdict.");
      const error = verdict.error && new HoldfastError(verdict.error);
      if (isTransient(error)) throw error;
      attempt.heardAt = Math.max(attempt.heardAt, sentAt);
      return verdict;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!isTransient(error) || timing.now() - since >= patienceMs) throw error;
    }
    await timing.sleep(backoffMs(timing, failures, backoff), signal);
  }
}

/** {@link submit} for a command under a new id. */
export function command(attempt: Attempt, body: CommandBody): Promise<Verdict> {
  return submit(attempt, JSON.stringify({ id: attempt.newId(), ...body }));
}
