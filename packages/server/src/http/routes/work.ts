import { parseWorkRequest } from "@holdfast/protocol/schemas";
import { actorOf, authenticate, mayWork } from "../auth.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { json } from "../problem.ts";

export function workRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, leaseMs, heartbeatMs, maxBodyBytes } = options;

  app.post("/v1/work/claim", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    const request = parseWorkRequest(await readJson(c.req.raw, maxBodyBytes));
    mayWork(identity, request.agent);
    if (request.tools) engine.validator.check(request.tools);
    const { session: of, runId: named, ...claim } = request;
    const work = await engine.claimWork(
      {
        ...claim,
        ...(of !== undefined && named !== undefined && { run: { session: of, runId: named } }),
      },
      actorOf(identity),
      c.req.raw.signal,
    );
    if (!work) return new Response(null, { status: 204 });
    const { session, runId, attempt } = work;
    const token = await tokens.mint({
      principal: identity.principal,
      attempt: { session, runId, attempt },
    });
    return json(JSON.stringify({ work: { ...work, token, leaseMs, heartbeatMs } }));
  });
}
