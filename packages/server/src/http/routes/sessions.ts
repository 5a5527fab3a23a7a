import { HoldfastError, reject } from "@holdfast/protocol";
import { parseSessionRequest } from "@holdfast/protocol/schemas";
import {
  actorOf,
  canRead,
  mayAdminister,
  mayCreate,
  mayList,
  mayRead,
  visibilityOf,
} from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { onceEach, pageOf, sessionId } from "../params.ts";
import { json } from "../problem.ts";
import { stateText } from "../state-text.ts";

const MOST_SESSIONS = 1000;

/** What of the query says which sessions; `meta.<name>` is a value of metadata. @throws HoldfastError `invalid_request` */
function sessionQuery(query: Readonly<Record<string, string>>) {
  const { agent, owner, closed } = query;
  if (closed !== undefined && closed !== "true")
    throw new HoldfastError(reject("invalid_request", "closed: must be true, or absent."));
  const metadata = Object.entries(query).flatMap(([name, value]) =>
    name.startsWith("meta.") ? [[name.slice("meta.".length), value] as const] : [],
  );
  return {
    ...(agent !== undefined && { agent }),
    ...(owner !== undefined && { owner }),
    ...(closed && { closed: true as const }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  };
}

export function sessionRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, defaultAgent, maxBodyBytes } = options;

  app.get("/v1/sessions", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    mayList(identity);
    const query = { ...pageOf(c.req, MOST_SESSIONS), ...sessionQuery(onceEach(c.req)) };
    const page = await engine.sessions(query, (session) => canRead(identity, session));
    return json(JSON.stringify(page));
  });

  app.put("/v1/sessions/:id", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    const id = sessionId(c.req);
    mayCreate(identity, id);
    // A PUT may say nothing but its path.
    const body = await readJson(c.req.raw, maxBodyBytes, {});
    const { agent = defaultAgent, ...rest } = parseSessionRequest(body);
    mayCreate(identity, id, rest);
    if (rest.policy) engine.validator.checkPolicy(rest.policy);
    const { created, session } = await engine.create(id, { agent, ...rest }, actorOf(identity, id));
    const shown = created || canRead(identity, id) ? session : { id };
    return json(JSON.stringify(shown), created ? 201 : 200);
  });

  app.get("/v1/sessions/:id", async (c) => {
    const id = sessionId(c.req);
    mayRead(await authenticate(c.req.raw, tokens), id);
    return json(JSON.stringify(await engine.session(id)));
  });

  app.delete("/v1/sessions/:id", async (c) => {
    const id = sessionId(c.req);
    mayAdminister(await authenticate(c.req.raw, tokens), id);
    await engine.delete(id);
    return new Response(null, { status: 204 });
  });

  app.get("/v1/sessions/:id/state", async (c) => {
    const id = sessionId(c.req);
    const identity = await authenticate(c.req.raw, tokens);
    mayRead(identity, id);
    return json(stateText(await engine.state(id, visibilityOf(identity, id))));
  });
}
