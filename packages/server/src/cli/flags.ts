import { parseArgs } from "node:util";

export interface Flags {
  readonly data: string;
  readonly port: number;
  readonly host: string;
  readonly pages?: string;
  readonly defaultAgent?: string;
  readonly leaseMs?: number;
  readonly claimLeaseMs?: number;
  readonly issuer?: string;
  readonly audience?: string;
  readonly corsOrigins: readonly string[];
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
      issuer: { type: "string" },
      audience: { type: "string" },
      "cors-origin": { type: "string", multiple: true, default: [] },
    },
  });
  const { data, host, pages, agent, lease, issuer, audience } = values;
  const leaseMs = lease === undefined ? undefined : wholeNumber("lease", lease, 1, 86_400_000);
  return {
    data,
    host,
    port: wholeNumber("port", values.port, 0, 65_535),
    corsOrigins: values["cors-origin"],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
    ...(pages !== undefined && { pages }),
    ...(agent !== undefined && { defaultAgent: agent }),
    ...(leaseMs !== undefined && { leaseMs, claimLeaseMs: leaseMs }),
  };
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${flag} must be a whole number from ${least} to ${most}, not ${text}.`);
}
