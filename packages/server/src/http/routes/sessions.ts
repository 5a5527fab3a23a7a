import { parseSessionRequest } from "@holdfast/protocol/schemas";
import { actorOf, mayChangeSessions, mayRead } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { limitOf, sessionId } from "../params.ts";
import { json } from "../problem.ts";

const MOST_SESSIONS = 1000;

export function sessionRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, defaultAgent, maxBodyBytes } = options;

  app.get("/v1/sessions", async (c) => {
    mayChangeSessions(await authenticate(c.req.raw, tokens));
    const after = c.req.query("after");
    const limit = limitOf(c.req.query("limit"), MOST_SESSIONS);
    const found = await engine.sessions({ limit, ...(after !== undefined && { after }) });
    const sessions = found.map(({ session: id, head: offset }) => ({ id, offset }));
    const last = found.length === limit ? found.at(-1) : undefined;
    return json(JSON.stringify({ sessions, ...(last && { next: last.session }) }));
  });

  app.put("/v1/sessions/:id", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    mayChangeSessions(identity);
    const id = sessionId(c.req);
    // A PUT may say nothing but its path.
    const body = await readJson(c.req.raw, maxBodyBytes, {});
    const { agent = defaultAgent, ...rest } = parseSessionRequest(body);
    const { created, session } = await engine.create(id, { agent, ...rest }, actorOf(identity));
    return json(JSON.stringify(session), created ? 201 : 200);
  });

  app.get("/v1/sessions/:id", async (c) => {
    const id = sessionId(c.req);
    mayRead(await authenticate(c.req.raw, tokens), id);
    return json(JSON.stringify(await engine.session(id)));
  });

  app.delete("/v1/sessions/:id", async (c) => {
    const id = sessionId(c.req);
    mayChangeSessions(await authenticate(c.req.raw, tokens));
    await engine.delete(id);
    return new Response(null, { status: 204 });
  });

  app.get("/v1/sessions/:id/state", async (c) => {
    const id = sessionId(c.req);
    mayRead(await authenticate(c.req.raw, tokens), id);
    const { offset, text } = await engine.state(id);
    return json(`{"offset":${JSON.stringify(offset)},"state":${text}}`);
  });
}
