import { authenticate, mayAudit } from "../auth.ts";
import type { App, HttpOptions } from "../context.ts";
import { limitOf, numberAfter, sessionId } from "../params.ts";
import { json } from "../problem.ts";

const MOST_RECORDS = 200;

export function auditRoutes(app: App, { engine, tokens }: HttpOptions): void {
  app.get("/v1/sessions/:id/audit", async (c) => {
    const session = sessionId(c.req);
    mayAudit(await authenticate(c.req.raw, tokens));
    const after = numberAfter(c.req.query("after") || undefined);
    const limit = limitOf(c.req.query("limit"), MOST_RECORDS);
    const rows = await engine.audit(session, { after, limit });
    const records = rows.map(({ seq, json: text, content }) => ({
      seq,
      ...(JSON.parse(text) as object),
      ...(content !== null && { content }),
    }));
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return json(JSON.stringify({ records, ...(last && { next: last.seq }) }));
  });
}
