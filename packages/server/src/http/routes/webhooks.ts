import { HoldfastError, reject } from "@holdfast/protocol";
import type { Delivery } from "../../engine/index.ts";
import { mayAdminister, mayAdministerAll } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import type { App, HttpOptions } from "../context.ts";
import { limitOf, sessionId } from "../params.ts";
import { json } from "../problem.ts";

const MOST_DEAD = 100;

/** What webhooks were told, and what they could not be told: for those who run the server. */
export function webhookRoutes(app: App, { engine, tokens }: HttpOptions): void {
  app.get("/v1/webhooks/dead", async (c) => {
    mayAdministerAll(await authenticate(c.req.raw, tokens));
    const after = c.req.query("after");
    const limit = limitOf(c.req.query("limit"), MOST_DEAD);
    const page = await engine.deadDeliveries({ limit, ...(after !== undefined && { after }) });
    const dead = page.dead.map(({ session, ...delivery }) => ({ session, ...shown(delivery) }));
    return json(JSON.stringify({ ...page, dead }));
  });

  app.post("/v1/webhooks/dead/:id/redeliver", async (c) => {
    mayAdministerAll(await authenticate(c.req.raw, tokens));
    const id = c.req.param("id");
    if (await engine.redeliver(id)) return json(JSON.stringify({ id, status: "pending" }));
    throw new HoldfastError(
      reject(
        "not_found",
        `No delivery ${id} is dead: it was taken up, or does not matter any more.`,
      ),
    );
  });

  app.get("/v1/sessions/:id/deliveries", async (c) => {
    const session = sessionId(c.req);
    mayAdminister(await authenticate(c.req.raw, tokens), session);
    const deliveries = await engine.deliveries(session);
    return json(JSON.stringify({ deliveries: deliveries.map(shown) }));
  });
}

const TYPES = { wake: "run.wake", waiting: "call.waiting", escalated: "call.escalate" } as const;

function shown({ kind, about, ...delivery }: Delivery) {
  const { id, ...rest } = delivery;
  return { id, type: TYPES[kind], [kind === "wake" ? "runId" : "callId"]: about, ...rest };
}
