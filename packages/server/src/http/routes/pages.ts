import { serveStatic } from "@hono/node-server/serve-static";
import type { App, HttpOptions } from "../context.ts";

/** Serves built pages from the same origin: `index.html` at `/`, the rest under `/assets`. */
export function pageRoutes(app: App, { pages }: HttpOptions): void {
  if (pages === undefined) return;
  const onFound = (_path: string, c: { header(name: string, value: string): void }) => {
    c.header("content-security-policy", POLICY);
    c.header("x-content-type-options", "nosniff");
    c.header("referrer-policy", "no-referrer");
  };
  app.get("/", serveStatic({ root: pages, path: "index.html", onFound }));
  app.get("/assets/*", serveStatic({ root: pages, onFound }));
}

/** Everything a model, a tool or a person wrote is text; nothing in it can run or call out. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
