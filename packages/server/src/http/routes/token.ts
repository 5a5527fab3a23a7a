import { HoldfastError, reject } from "@holdfast/protocol";
import { parseTokenRequest } from "@holdfast/protocol/schemas";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { isLoopback } from "../loopback.ts";
import { json } from "../problem.ts";

/** In development, a chosen name becomes a token, so that "who decided" is true there too. */
export function tokenRoutes(app: App, { tokens, dev, maxBodyBytes }: HttpOptions): void {
  if (!dev) return;

  app.post("/v1/dev/token", async (c) => {
    refuseStrangers(c.req.raw);
    const { name = "", agent } = parseTokenRequest(await readJson(c.req.raw, maxBodyBytes));
    const principal = agent === undefined ? `user:${name.trim()}` : `agent:${agent}`;
    return json(JSON.stringify({ token: await tokens.mint({ principal }), principal }));
  });
}

/** A page of another site must not get a token, even when its name was made to lead here. */
function refuseStrangers({ url, headers }: Request): void {
  const here = new URL(url);
  const origin = headers.get("origin");
  if (isLoopback(here.hostname) && (origin === null || origin === here.origin)) return;
  throw new HoldfastError(
    reject("forbidden", "Development tokens are for this machine: open the page under localhost."),
  );
}
