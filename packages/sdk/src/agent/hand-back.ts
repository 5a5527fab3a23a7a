import { HoldfastError } from "@holdfast/protocol";
import { postCommands } from "../wire/index.ts";
import { command, type Attempt } from "./attempt.ts";

/** How long a process that ends waits for the server to take its attempt back, in milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Tells the server that this process lets go of an attempt, so that another gets its run at once. One try, under a
 * producer of its own, whatever became of the attempt's other words; where it fails, the lease ends by itself.
 */
export async function handBack(attempt: Attempt, producer: string): Promise<void> {
  const { work, transport } = attempt;
  const { session, runId, attempt: number } = work;
  const text = JSON.stringify({
    id: attempt.newId(),
    type: "run.release",
    runId,
    attempt: number,
    producer: `${producer}/release`,
    seq: 1,
  });
  const late = new AbortController();
  const done = new AbortController();
  void transport.timing.sleep(PATIENCE_MS, done.signal).then(
    () => late.abort(),
    () => {},
  );
  try {
    await postCommands(transport, session, [text], late.signal);
  } catch {
    // Its lease tells.
  } finally {
    done.abort();
  }
}

/**
 * Holds an attempt up to a time though no process says anything for it.
 *
 * @returns up to when, which may be earlier than was asked for
 */
export async function hold(attempt: Attempt, until: number): Promise<number> {
  const { runId, attempt: number } = attempt.work;
  const body = { type: "run.heartbeat", runId, attempt: number, until } as const;
  const { error, heldUntil = until } = await command(attempt, body);
  if (error) throw new HoldfastError(error);
  return heldUntil;
}

/** Why an attempt is over for a process that let go of it. */
export function letGo(message: string): HoldfastError {
  return new HoldfastError({ code: "closed", message });
}
