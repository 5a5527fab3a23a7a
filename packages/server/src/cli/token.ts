import { parseArgs } from "node:util";
import { mintToken, type Grant, type Verb } from "../auth/index.ts";
import { bytesOf, variable } from "./environment.ts";

/**
 * `holdfast token`: prints a token, signed with HOLDFAST_PRIVATE_KEY where it is set, else with HOLDFAST_SECRET. Needs
 * no server.
 */
export async function token(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sub: { type: "string" },
      grant: { type: "string", multiple: true, default: [] },
      ttl: { type: "string", default: "1h" },
      kid: { type: "string" },
      issuer: { type: "string" },
      audience: { type: "string" },
    },
  });
  const { sub, grant, ttl, kid, issuer, audience } = values;
  if (sub === undefined) {
    throw new Error("--sub says whom the token is for, such as user:ana: give it.");
  }
  const made = await mintToken({
    ...signer(),
    principal: sub,
    grants: grant.map(grantIn),
    ttlMs: milliseconds(ttl),
    ...(kid !== undefined && { keyId: kid }),
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  });
  console.log(made);
}

function signer(): { secret: Uint8Array } | { privateKey: string } {
  const privateKey = variable("HOLDFAST_PRIVATE_KEY");
  if (privateKey !== undefined) return { privateKey };
  const secret = variable("HOLDFAST_SECRET");
  if (secret !== undefined) return { secret: bytesOf(secret) };
  throw new Error(
    "There is nothing to sign with: set HOLDFAST_SECRET as the server has it, or HOLDFAST_PRIVATE_KEY.",
  );
}

/** `team-*=read,send`. What it holds, minting checks. */
function grantIn(text: string): Grant {
  const equals = text.indexOf("=");
  if (equals < 1) throw new Error(`--grant must be like team-*=read,send, not ${text}.`);
  const verbs = text.slice(equals + 1).split(",") as Verb[];
  return { sessions: text.slice(0, equals), verbs };
}

function milliseconds(text: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const factor = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  if (factor !== undefined) return Number(count) * factor;
  throw new Error(`--ttl must be like 30s, 15m, 1h or 7d, not ${text}.`);
}
