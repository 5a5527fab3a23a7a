import { parseTokenRequest } from "@holdfast/protocol/schemas";
import { forbidden, isLoopback } from "../../auth/index.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { json } from "../problem.ts";

/**
 * In development, a chosen name becomes a token, so that "who decided" is true there too. A person's does everything,
 * an agent's claims that agent's work.
 */
export function tokenRoutes(
  app: App,
  { tokens, dev, devBehindFetch, maxBodyBytes }: HttpOptions,
): void {
  if (!dev) return;

  app.post("/v1/dev/token", async (c) => {
    if (!c.env?.connection && !devBehindFetch) {
      throw forbidden(
        "This server was given no key and does not know who can ask it: give it one, or say `dev: true`.",
      );
    }
    refuseElsewhere(c.req.raw);
    const { name = "", agent } = parseTokenRequest(await readJson(c.req.raw, maxBodyBytes));
    const principal = agent === undefined ? `user:${name.trim()}` : `agent:${agent}`;
    return json(JSON.stringify({ token: await tokens.mint(principal), principal }));
  });
}

/** A page of another site must not get a token, even when its name was made to lead here. */
function refuseElsewhere({ url, headers }: Request): void {
  const here = new URL(url);
  const origin = headers.get("origin");
  if (isLoopback(here.hostname) && (origin === null || origin === here.origin)) return;
  throw forbidden("Development tokens are for this machine: open the page under localhost.");
}
