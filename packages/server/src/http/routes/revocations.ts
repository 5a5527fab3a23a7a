import { parseRevocation } from "@holdfast/protocol/schemas";
import { mayAdministerAll } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { json } from "../problem.ts";

/** Taking tokens back, for who administers all sessions. */
export function revocationRoutes(app: App, options: HttpOptions): void {
  const { tokens, revocations, maxBodyBytes } = options;

  app.get("/v1/revocations", async (c) => {
    mayAdministerAll(await authenticate(c.req.raw, tokens));
    return json(JSON.stringify({ revocations: await revocations.list() }));
  });

  app.post("/v1/revocations", async (c) => {
    mayAdministerAll(await authenticate(c.req.raw, tokens));
    const revocation = parseRevocation(await readJson(c.req.raw, maxBodyBytes));
    return json(JSON.stringify({ revocation: await revocations.add(revocation) }));
  });
}
