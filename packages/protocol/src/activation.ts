import type { Run } from "./run.ts";

/** The id of a run's activation that nobody gave another: unique, since a run's id is. */
export function activationId(runId: string, activation: number): string {
  return `${runId}:${activation}`;
}

/** What an id says that {@link activationId} may have made; undefined for any other. */
export function parseActivationId(
  id: string,
): { readonly runId: string; readonly activation: number } | undefined {
  const parts = /^(.+):([1-9]\d{0,8})$/su.exec(id);
  const [, runId, activation] = parts ?? [];
  return runId === undefined ? undefined : { runId, activation: Number(activation) };
}

/** The AG-UI id of a run's activation: the first that was requested for it, else `{run}:{attempt}` (SPEC 12.1.5). */
export function requestedId(run: Pick<Run, "id" | "requests">, activation: number): string {
  const request = run.requests?.find((it) => it.activation === activation);
  return request?.id ?? activationId(run.id, activation);
}

/**
 * Which activation an AG-UI run id of a session means; undefined for an id it does not know. Costs one look.
 */
export function findActivation(
  state: {
    readonly runs: ReadonlyMap<string, Run>;
    readonly index: { readonly requests: ReadonlyMap<string, string> };
  },
  id: string,
): { readonly runId: string; readonly activation: number } | undefined {
  const runId = state.index.requests.get(id);
  const request =
    runId === undefined ? undefined : state.runs.get(runId)?.requests?.find((it) => it.id === id);
  if (runId !== undefined && request) return { runId, activation: request.activation };
  const parsed = parseActivationId(id);
  const run = parsed && state.runs.get(parsed.runId);
  return run && parsed.activation <= run.attempt ? parsed : undefined;
}
