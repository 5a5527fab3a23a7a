/** Counts the (state, command) pairs that a property reached. */
export interface Coverage {
  count(pair: string): void;
  /** Pairs that can be reached and were not. */
  missing(): string[];
  counts(): ReadonlyMap<string, number>;
}

export function createCoverage(): Coverage {
  const counts = new Map<string, number>();
  return {
    count: (pair) => void counts.set(pair, (counts.get(pair) ?? 0) + 1),
    missing: () => REACHABLE.filter((pair) => !counts.has(pair)),
    counts: () => counts,
  };
}

const STATUSES = ["streaming", "ended", "gated", "open", "claimed", "settled"];
const PHASES = ["held", "queued", "active", "suspended", "ended"];

const CALL_TRIGGERS = words(`
  start arguments end ask invalidate replace annotate annotate:other
  claim:client claim:agent claim:wrong renew:client renew:agent renew:wrong
  release:client release:agent release:wrong progress:client progress:agent progress:wrong
  answer:client answer:agent answer:wrong answer:appended
  approve approve:always approve:other deny edit decide:stale approval deadline escalation claim cancel
`);

const RUN_TRIGGERS = words(
  "start start:wrong step.start append heartbeat hold finish fail release hole lease cancel",
);

/** A held run never had an attempt; every other one may have had several. */
const OLDER = words("append heartbeat hold finish fail release hole lease").map(
  (it) => `${it}:older`,
);

const REACHABLE = [
  ...STATUSES.flatMap((status) => CALL_TRIGGERS.map((it) => `call ${status} / ${it}`)),
  ...PHASES.flatMap((phase) => RUN_TRIGGERS.map((it) => `run ${phase} / ${it}`)),
  ...["queued", "active", "suspended", "ended"].flatMap((phase) =>
    [...OLDER, "start:again"].map((it) => `run ${phase} / ${it}`),
  ),
  ...["held", "queued", "active", "ended"].flatMap((phase) =>
    ["queue", "refuse", "replace", "concurrent", "steer"].map(
      (it) => `run ${phase} / message:${it}`,
    ),
  ),
  ...["queue", "refuse", "abandon"].map((it) => `run suspended / pending:${it}`),
  "run active / withdraw",
  "run active / breach",
  ...["none", "open", "ended"].flatMap((status) =>
    ["start", "end", "append"].map((it) => `step ${status} / ${it}`),
  ),
  "step open / append:older",
  "step ended / append:older",
  "run none / message",
  "session / policy.set",
  "session / approval.revoke",
  "session / tools.advertise",
  "session / message that exists",
];

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
