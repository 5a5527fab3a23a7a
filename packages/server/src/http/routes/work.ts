import { parseWorkRequest } from "@holdfast/protocol/schemas";
import { mayWork } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { json } from "../problem.ts";

export function workRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, leaseMs, heartbeatMs, maxBodyBytes } = options;

  app.post("/v1/work/claim", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    const request = parseWorkRequest(await readJson(c.req.raw, maxBodyBytes));
    const { principal } = identity;
    const may = mayWork(identity, request.agent);
    if (request.tools) engine.validator.check(request.tools);
    // A wait ends with its token, as if nothing had come: whoever has a new one asks again.
    const over = new AbortController();
    const unwatch = tokens.watch(identity, () => over.abort());
    const signal = AbortSignal.any([c.req.raw.signal, over.signal]);
    const { session: of, runId: named, ...claim } = request;
    const run = of !== undefined && named !== undefined && { session: of, runId: named };
    const work = await engine
      .claimWork({ ...claim, ...(run && { run }) }, { principal }, { may, signal })
      .finally(unwatch);
    if (!work) return new Response(null, { status: 204 });
    const { session, runId, attempt } = work;
    const token = await tokens.mintAttempt(identity, { session, runId, attempt });
    return json(JSON.stringify({ work: { ...work, token, leaseMs, heartbeatMs } }));
  });
}
