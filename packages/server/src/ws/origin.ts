import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a page may connect. Only browsers say where a page is from, and they cannot be made to lie: who says nothing
 * is no page. The server's own pages may, whatever is listed; schemes are not compared, since a proxy may have taken
 * the encryption away.
 */
export function isAllowedOrigin(
  { origin, host }: IncomingHttpHeaders,
  allowed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (allowed.includes(origin)) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === hostOf(host);
}

/** Without the port that the scheme implies, as an origin has it. */
function hostOf(host: string): string {
  return host.toLowerCase().replace(/:(?:80|443)$/, "");
}
