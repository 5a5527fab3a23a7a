import { createContext, Script } from "node:vm";

/**
 * Runs something synchronous and gives what it gives; where it takes longer than `ms` of the processor's time or runs
 * out of stack, what `failed` makes of the reason instead. Costs a tenth of a millisecond.
 *
 * A script can only be cut off by the clock, and a machine that is busy with other things is no reason to fail: work
 * that was cut off is begun again, twice in any case, since a halt of the whole machine looks like work from inside it,
 * and then with twice the time until it has had its `ms`. What `work` changes must bear being cut off: not even its
 * `finally` runs.
 */
export function within<T>(ms: number, work: () => T, failed: (why: string) => T): T {
  let result: { readonly value: T } | undefined;
  SANDBOX.work = () => void (result = { value: work() });
  try {
    for (let tries = 1, timeout = ms; ; tries += 1) {
      const before = process.threadCpuUsage();
      try {
        CALL.runInContext(CONTEXT, { timeout });
        break;
      } catch (error) {
        if (error instanceof RangeError) return failed("they are nested too deep");
        if (!isTimeout(error)) throw error;
        const { user, system } = process.threadCpuUsage(before);
        // The clocks do not agree to the last millisecond.
        const worked = (user + system) / 1000 > ms * 0.9;
        if (!worked) timeout *= 2;
        else if (tries > 1) return failed(`it takes longer than ${ms} ms`);
      }
    }
  } finally {
    SANDBOX.work = undefined;
  }
  return result ? result.value : failed("it did not end");
}

// Nothing is kept out: only a script in a context can be given a time.
const SANDBOX: { work: (() => void) | undefined } = { work: undefined };
const CONTEXT = createContext(SANDBOX);
const CALL = new Script("work()");

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
