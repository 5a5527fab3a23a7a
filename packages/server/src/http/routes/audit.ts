import { mayAdminister } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import type { App, HttpOptions } from "../context.ts";
import { limitOf, numberAfter, sessionId } from "../params.ts";
import { json } from "../problem.ts";
import { contentOf } from "../../engine/index.ts";

const MOST_RECORDS = 200;

export function auditRoutes(app: App, { engine, tokens }: HttpOptions): void {
  app.get("/v1/sessions/:id/audit", async (c) => {
    const session = sessionId(c.req);
    mayAdminister(await authenticate(c.req.raw, tokens), session);
    const after = numberAfter(c.req.query("after") || undefined);
    const limit = limitOf(c.req.query("limit"), MOST_RECORDS);
    const rows = await engine.trail.refusals(session, { after, limit });
    const records = rows.map(({ seq, json: text, content }) => ({
      seq,
      ...(JSON.parse(text) as object),
      ...contentOf({ content }),
    }));
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return json(JSON.stringify({ records, ...(last && { next: last.seq }) }));
  });

  app.get("/v1/sessions/:id/audit/export", async (c) => {
    const session = sessionId(c.req);
    mayAdminister(await authenticate(c.req.raw, tokens), session);
    const after = numberAfter(c.req.query("after") || undefined);
    const lines = await engine.trail.export(session, after);
    return new Response(bodyOf(lines), { headers: { "content-type": "application/x-ndjson" } });
  });

  app.get("/v1/sessions/:id/audit/verify", async (c) => {
    const session = sessionId(c.req);
    mayAdminister(await authenticate(c.req.raw, tokens), session);
    const found = await engine.trail.verify(session);
    return json(JSON.stringify({ ...found, keys: engine.trail.keys }));
  });
}

/** Lines as a body: read as fast as they are taken, and left where nobody takes them any more. */
function bodyOf(lines: AsyncGenerator<string, void, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      let text = "";
      while (text.length < CHUNK) {
        const next = await lines.next();
        if (next.done) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          controller.close();
          return;
        }
        text += `${next.value}\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
    cancel: async () => void (await lines.return()),
  });
}

/** How much of an export is sent at once, in characters. */
const CHUNK = 1 << 16;
