import { parseWorkRequest } from "@holdfast/protocol/schemas";
import { mayWork, type Identity } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import type { Work } from "../../engine/index.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { json } from "../problem.ts";

export function workRoutes(app: App, options: HttpOptions): void {
  const { tokens, maxBodyBytes } = options;

  app.post("/v1/work/claim", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    const body = await readJson(c.req.raw, maxBodyBytes);
    const work = await grantWork(options, identity, body, c.req.raw.signal);
    return work ? json(JSON.stringify({ work })) : new Response(null, { status: 204 });
  });
}

/** An attempt and the token for it. */
export interface Grant extends Work {
  readonly token: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

/**
 * An attempt for who asks, as soon as there is one; undefined where none came in time, or `signal` said so.
 *
 * @throws HoldfastError for a request that cannot be read, and `forbidden`
 */
export async function grantWork(
  options: HttpOptions,
  identity: Identity,
  body: unknown,
  signal: AbortSignal,
): Promise<Grant | undefined> {
  const { engine, tokens, leaseMs, heartbeatMs } = options;
  const { principal } = identity;
  const { session: of, runId: named, ...claim } = parseWorkRequest(body);
  const may = mayWork(identity, claim.agent);
  if (claim.tools) engine.validator.check(claim.tools);
  const run = of !== undefined && named !== undefined && { session: of, runId: named };
  // A wait ends with its token, as if nothing had come: whoever has a new one asks again.
  const over = new AbortController();
  const unwatch = tokens.watch(identity, () => over.abort());
  const until = AbortSignal.any([signal, over.signal]);
  const work = await engine
    .claimWork({ ...claim, ...(run && { run }) }, { principal }, { may, signal: until })
    .finally(unwatch);
  if (!work) return undefined;
  const { session, runId, attempt } = work;
  const token = await tokens.mintAttempt(identity, { session, runId, attempt });
  return { ...work, token, leaseMs, heartbeatMs };
}
