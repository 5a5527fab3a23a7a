import { HoldfastError } from "@holdfast/protocol";
import { command, type Attempt } from "./attempt.ts";

/** Says that the agent is at work whenever nothing else did for a while, until the attempt is over. */
export async function keepLease(attempt: Attempt): Promise<void> {
  const { work, signal, transport } = attempt;
  const { timing } = transport;
  try {
    for (;;) {
      const quiet = timing.now() - attempt.heardAt;
      if (quiet < work.heartbeatMs) {
        await timing.sleep(work.heartbeatMs - quiet, signal);
        continue;
      }
      const { runId, attempt: number } = work;
      const { error } = await command(attempt, { type: "run.heartbeat", runId, attempt: number });
      if (error) throw new HoldfastError(error);
      attempt.heardAt = Math.max(attempt.heardAt, timing.now());
    }
  } catch (error) {
    if (error instanceof HoldfastError) attempt.lapse(error);
  }
}
