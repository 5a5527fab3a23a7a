import { parseWorkRequest } from "@holdfast/protocol/schemas";
import { actorOf, mayWork, type Identity } from "../../auth/index.ts";
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
  const request = parseWorkRequest(body);
  mayWork(identity, request.agent);
  if (request.tools) engine.validator.check(request.tools);
  const work = await engine.claimWork(request, actorOf(identity), signal);
  if (!work) return undefined;
  const { session, runId, attempt } = work;
  const token = await tokens.mint({
    principal: identity.principal,
    attempt: { session, runId, attempt },
  });
  return { ...work, token, leaseMs, heartbeatMs };
}
