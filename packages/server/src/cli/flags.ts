import { parseArgs } from "node:util";
import type { WebhookOptions } from "../webhooks/index.ts";

import { DEFAULTS, type ServerOptions } from "../config.ts";
import { variable } from "./environment.ts";

export interface Flags extends Pick<ServerOptions, "limits"> {
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
  readonly webhooks?: WebhookOptions;
  readonly agents?: NonNullable<ServerOptions["agents"]>;
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
      agent: { type: "string", multiple: true, default: [] },
      lease: { type: "string" },
      rate: { type: "string" },
      "max-result": { type: "string" },
      issuer: { type: "string" },
      audience: { type: "string" },
      "cors-origin": { type: "string", multiple: true, default: [] },
      "agent-webhook": { type: "string", multiple: true },
      "notify-webhook": { type: "string" },
    },
  });
  const { data, host, pages, lease, issuer, audience } = values;
  const { defaultAgent, agents } = agentsOf(values.agent);
  const webhooks = webhooksOf(values["agent-webhook"] ?? [], values["notify-webhook"]);
  const limits = limitsOf(values.rate, values["max-result"]);
  const leaseMs = lease === undefined ? undefined : wholeNumber("lease", lease, 1, 86_400_000);
  return {
    data,
    host,
    port: wholeNumber("port", values.port, 0, 65_535),
    corsOrigins: values["cors-origin"],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
    ...(pages !== undefined && { pages }),
    ...(defaultAgent !== undefined && { defaultAgent }),
    ...(agents && { agents }),
    ...(leaseMs !== undefined && { leaseMs, claimLeaseMs: leaseMs }),
    ...(limits && { limits }),
    ...(webhooks && { webhooks }),
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

/**
 * `--agent <name>` names the agent of sessions that name none; `--agent <url>` says that an AG-UI endpoint is that agent, and
 * `--agent <name>=<url>` that it is another. What they are sent for their trust is a secret, and those are no flags.
 */
function agentsOf(given: readonly string[]): Pick<Flags, "defaultAgent" | "agents"> {
  const agents = new Map<string, { url: string; headers?: Record<string, string> }>();
  const names: string[] = [];
  const add = (name: string, url: string) => {
    if (agents.has(name)) throw new Error(`--agent names ${name} twice: give each its own name.`);
    const headers = agentHeaders(name);
    agents.set(name, { url, ...(headers && { headers }) });
  };
  const urls: string[] = [];
  for (const text of given) {
    const [, name, url] = /^([^=:/]+)=(.+)$/.exec(text) ?? [];
    if (name !== undefined && url !== undefined) add(name, url);
    else if (/^https?:/i.test(text)) urls.push(text);
    else if (/^[^=]+$/.test(text)) names.push(text);
    else throw new Error(`--agent must be a name, a URL or <name>=<url>, not ${text}.`);
  }
  if (names.length > 1 || urls.length > 1) {
    throw new Error(
      "--agent may name one default agent and one URL for it: give others as <name>=<url>.",
    );
  }
  const [
    defaultAgent = agents.size === 1 && urls.length === 0 ? [...agents.keys()][0] : undefined,
  ] = names;
  if (urls[0] !== undefined) add(defaultAgent ?? DEFAULTS.defaultAgent, urls[0]);
  return {
    ...(defaultAgent !== undefined && { defaultAgent }),
    ...(agents.size > 0 && { agents: Object.fromEntries(agents) }),
  };
}

/** `HOLDFAST_AGENT_AUTHORIZATION` for all agents, `HOLDFAST_AGENT_AUTHORIZATION_<NAME>` for one. */
function agentHeaders(name: string): Record<string, string> | undefined {
  const suffix = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
  const authorization =
    variable(`HOLDFAST_AGENT_AUTHORIZATION_${suffix}`) ?? variable("HOLDFAST_AGENT_AUTHORIZATION");
  return authorization === undefined ? undefined : { authorization };
}

/** Addresses are flags; what messages are signed with is a secret, and those are no flags. */
function webhooksOf(agents: readonly string[], notify: string | undefined) {
  if (agents.length === 0 && notify === undefined) return undefined;
  const secret = (process.env["HOLDFAST_WEBHOOK_SECRET"] ?? "").split(/\s+/).filter(Boolean);
  if (secret.length === 0) {
    throw new Error(
      "HOLDFAST_WEBHOOK_SECRET is not set: set it to what `echo whsec_$(openssl rand -base64 32)` prints, or to several of these while they are changed.",
    );
  }
  const named = agents.map((text): [string, { url: string; secret: string[] }] => {
    const [, agent = "", url = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (url === "") throw new Error(`--agent-webhook must be <agent>=<url>, not ${text}.`);
    return [agent, { url, secret }];
  });
  return {
    agents: Object.fromEntries(named),
    ...(notify !== undefined && { notify: { url: notify, secret } }),
  };
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${flag} must be a whole number from ${least} to ${most}, not ${text}.`);
}
