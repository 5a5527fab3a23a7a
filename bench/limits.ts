/** What a run is held to. */
export interface Limit {
  /** What is measured, in words. */
  readonly what: string;
  readonly measured: number;
  /** The best that is wanted of it, inclusive, from one side. */
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly show: (value: number) => string;
}

/** Whether a limit is kept. What could not be measured is not. */
export function isKept({ measured, atLeast, atMost }: Limit): boolean {
  return (
    Number.isFinite(measured) &&
    measured >= (atLeast ?? Number.NEGATIVE_INFINITY) &&
    measured <= (atMost ?? Number.POSITIVE_INFINITY)
  );
}

/** The closing table, a line for each limit. */
export function tableOf(limits: readonly Limit[]): string {
  const lines = limits.map(
    (limit) =>
      `| ${limit.what} | ${limit.show(limit.measured)} | ${boundOf(limit)} | ${isKept(limit) ? "kept" : "**missed**"} |`,
  );
  return ["| | measured | limit | |", "|---|---:|---:|---|", ...lines].join("\n");
}

/** What is said of a missed limit, to whoever wonders why the run failed. */
export function complaintOf(limit: Limit): string {
  return `Missed: ${limit.what}: ${limit.show(limit.measured)}, where ${boundOf(limit)} is wanted.`;
}

function boundOf({ atLeast, atMost, show }: Limit): string {
  if (atLeast !== undefined) return `at least ${show(atLeast)}`;
  return atMost === undefined ? "none" : `at most ${show(atMost)}`;
}
