import { vi } from "vitest";

/** Waits until `check` throws no more. Its limit is there to end a hang, not to time anything. */
export function waitFor<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 5 });
}
