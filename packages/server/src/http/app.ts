import { Hono } from "hono";
import { cors } from "hono/cors";
import type { App, HttpOptions } from "./context.ts";
import { refuseStrangers } from "./origin.ts";
import { json, problem, problemOf } from "./problem.ts";
import { callRoutes } from "./routes/calls.ts";
import { auditRoutes } from "./routes/audit.ts";
import { commandRoutes } from "./routes/commands.ts";
import { entryRoutes } from "./routes/entries.ts";
import { pageRoutes } from "./routes/pages.ts";
import { revocationRoutes } from "./routes/revocations.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { tokenRoutes } from "./routes/token.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { workRoutes } from "./routes/work.ts";

/** The HTTP face, as `docs/protocol/http.md` describes it. */
export function createApp(options: HttpOptions): App {
  const app: App = new Hono();
  app.onError((error) => problemOf(error, options.log));
  app.notFound((c) =>
    problem({ code: "not_found", message: `There is nothing at ${c.req.method} ${c.req.path}.` }),
  );
  app.use("/v1/*", (c, next) => {
    refuseStrangers(c.req.raw, options.corsOrigins);
    return next();
  });
  if (options.corsOrigins.length > 0) app.use("/v1/*", cors(corsOf(options.corsOrigins)));
  app.get("/healthz", () => json(`{"ok":true}`));
  callRoutes(app, options);
  commandRoutes(app, options);
  entryRoutes(app, options);
  auditRoutes(app, options);
  sessionRoutes(app, options);
  workRoutes(app, options);
  webhookRoutes(app, options);
  tokenRoutes(app, options);
  revocationRoutes(app, options);
  pageRoutes(app, options);
  return app;
}

/** What browsers are told for pages of other origins. Tokens are in headers, so there are no credentials to allow. */
function corsOf(origins: readonly string[]) {
  return {
    origin: [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "DELETE"],
    allowHeaders: ["authorization", "content-type", "last-event-id"],
    maxAge: 600,
  };
}
