import type { TokenUsage } from "@ag-ui/core";
import { isObject, type Json } from "../json.ts";
import type { Run } from "../run.ts";
import { createCompatState } from "./compat.ts";
import { enforceAgUiEvent } from "./enforce.ts";
import { agUiExtra } from "./shown-metadata.ts";

/** What the agent said at the end of its AG-UI runs, which session events have no word for. */
export interface Account {
  readonly result?: Json;
  readonly usage?: TokenUsage[];
}

/**
 * What a run's agent said of its newest activation: what all of its attempts used, and the result of the last that had one
 * (SPEC 12.5.9). What AG-UI would not take is left out.
 */
export function accountOf({ metadata, activation }: Run): Account {
  const since = activation?.attempt ?? 1;
  const streams = Object.entries(agUiExtra(metadata))
    .map(([name, said]) => ({ attempt: Number.parseInt(name, 10), said }))
    .filter(({ attempt }) => attempt >= since)
    .toSorted((a, b) => a.attempt - b.attempt)
    .flatMap(({ said }) => (isObject(said) ? [said] : []));
  const usage = streams.flatMap((said) => usageIn(said["usage"]));
  const result = streams.findLast((said) => (said["result"] ?? null) !== null)?.["result"];
  return {
    // As it is stored, which is JSON.
    ...(result !== undefined && { result: result as Json }),
    ...(usage.length > 0 && { usage }),
  };
}

function usageIn(usage: unknown): TokenUsage[] {
  if (!Array.isArray(usage)) return [];
  const carrier = { type: "RUN_ERROR", message: "", usage };
  const { value } = enforceAgUiEvent(carrier, createCompatState(), undefined);
  return value?.type === "RUN_ERROR" ? (value.usage ?? []) : [];
}
