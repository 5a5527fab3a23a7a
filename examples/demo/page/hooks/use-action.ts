import { useCallback, useState } from "react";

/** Something a person asked for: whether it is under way, and what went wrong the last time. */
export interface Action<A extends readonly unknown[]> {
  readonly busy: boolean;
  readonly error: unknown;
  /** Resolves to whether it succeeded; never rejects. */
  run(...args: A): Promise<boolean>;
}

export function useAction<A extends readonly unknown[]>(
  act: (...args: A) => Promise<unknown>,
): Action<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = useCallback(
    async (...args: A) => {
      setBusy(true);
      setError(undefined);
      try {
        await act(...args);
        return true;
      } catch (reason) {
        setError(reason);
        return false;
      } finally {
        setBusy(false);
      }
    },
    [act],
  );
  return { busy, error, run };
}
