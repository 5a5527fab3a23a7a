import { serveStatic } from "@hono/node-server/serve-static";
import type { App, HttpOptions } from "../context.ts";

/**
 * Serves a built page from the same origin: its parts under `/assets`, and `index.html` at `/` and wherever else a
 * browser navigates to, since a page keeps what it shows in its address.
 */
export function pageRoutes(app: App, { pages }: HttpOptions): void {
  if (pages === undefined) return;
  const onFound = (_path: string, c: { header(name: string, value: string): void }) => {
    c.header("content-security-policy", POLICY);
    c.header("x-content-type-options", "nosniff");
    c.header("referrer-policy", "no-referrer");
  };
  const index = serveStatic({ root: pages, path: "index.html", onFound });
  app.get("/", index);
  app.get("/assets/*", serveStatic({ root: pages, onFound }));
  app.get("*", (c, next) => (isNavigation(c.req) ? index(c, next) : next()));
}

/** Whether a browser wants a page and not an answer of the API. */
function isNavigation(request: {
  path: string;
  header(name: string): string | undefined;
}): boolean {
  const { path } = request;
  if (path.startsWith("/v1/") || path.startsWith("/assets/")) return false;
  return request.header("accept")?.includes("text/html") ?? false;
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
