import { parseArgs } from "node:util";

import { DEFAULTS, type ServerOptions } from "../config.ts";

export interface Flags extends Pick<ServerOptions, "limits"> {
  readonly data: string;
  readonly port: number;
  readonly host: string;
  readonly pages?: string;
  readonly defaultAgent?: string;
  readonly leaseMs?: number;
  readonly claimLeaseMs?: number;
}

/** Reads the flags that `dev` and `serve` share. @throws Error naming the flag that does not fit */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string", default: ".holdfast" },
      port: { type: "string", default: "4646" },
      host: { type: "string", default: "127.0.0.1" },
      pages: { type: "string" },
      agent: { type: "string" },
      lease: { type: "string" },
      rate: { type: "string" },
      "max-result": { type: "string" },
    },
  });
  const { data, host, pages, agent, lease } = values;
  const limits = limitsOf(values.rate, values["max-result"]);
  const leaseMs = lease === undefined ? undefined : wholeNumber("lease", lease, 1, 86_400_000);
  return {
    data,
    host,
    port: wholeNumber("port", values.port, 0, 65_535),
    ...(pages !== undefined && { pages }),
    ...(agent !== undefined && { defaultAgent: agent }),
    ...(leaseMs !== undefined && { leaseMs, claimLeaseMs: leaseMs }),
    ...(limits && { limits }),
  };
}

/** An operator's own: how busy one principal may be, and how large a result is kept. The rest is a program's to set. */
function limitsOf(rate: string | undefined, result: string | undefined): Flags["limits"] {
  if (rate === undefined && result === undefined) return undefined;
  const perSecond = rate === undefined ? undefined : wholeNumber("rate", rate, 1, 1_000_000);
  const most = DEFAULTS.limits.bodyBytes;
  const bytes = result === undefined ? undefined : wholeNumber("max-result", result, 1, most);
  return {
    ...(perSecond !== undefined && { commands: { perSecond, burst: 4 * perSecond } }),
    ...(bytes !== undefined && { resultBytes: bytes }),
  };
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${flag} must be a whole number from ${least} to ${most}, not ${text}.`);
}
