import { forbidden } from "../auth/index.ts";

/** What a browser says of the page that asks; elsewhere all but the host are absent. */
export interface Asking {
  readonly origin: string | null | undefined;
  /** `Sec-Fetch-Site`: the browser's own word, which no page can forge and no proxy need know. */
  readonly site: string | null | undefined;
  /** The host and port the request was for, as the client named it. */
  readonly host: string;
}

/**
 * Whether a request may come from where it does: from no page at all, from a page of this server, or from one of an
 * origin that the operator named.
 */
export function isWelcome({ origin, site, host }: Asking, origins: readonly string[]): boolean {
  if (origin === null || origin === undefined || origins.includes(origin)) return true;
  if (site !== null && site !== undefined) return site === "same-origin";
  // Browsers say it only over https and on this machine. The scheme is left out: a proxy may end TLS.
  return URL.parse(origin)?.host === host;
}

/** @throws HoldfastError `forbidden` */
export function refuseStrangers(request: Request, origins: readonly string[]): void {
  const { headers, url } = request;
  const origin = headers.get("origin");
  if (origin === null) return;
  const asking = { origin, site: headers.get("sec-fetch-site"), host: new URL(url).host };
  if (isWelcome(asking, origins)) return;
  throw forbidden(
    `Pages of ${origin} may not use this server: its operator names those that may (corsOrigins).`,
  );
}

/** @throws RangeError for what no browser says as its `Origin` */
export function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.find((origin) => {
    const url = URL.parse(origin);
    return url?.origin !== origin || !/^https?:$/.test(url.protocol);
  });
  if (wrong === undefined) return;
  throw new RangeError(`An origin is like https://app.example, without a path, not ${wrong}.`);
}
