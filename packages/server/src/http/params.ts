import { HoldfastError, reject } from "@holdfast/protocol";

/** The session's id in a request's path. @throws HoldfastError `invalid_request` */
export function sessionId(request: { readonly url: string; param(name: "id"): string }): string {
  const value = request.param("id");
  // What dots alone name in a path, clients resolve before they ask: such a session would have no address.
  // Hono takes an escape that cannot be decoded as it stands, so that a session would have two addresses.
  const good = value.length <= 256 && value.isWellFormed() && !/\p{Cc}|^\.{1,2}$/u.test(value);
  if (good && isDecodable(request.url)) return value;
  throw new HoldfastError(
    reject(
      "invalid_request",
      "A session's id is a string of at most 256 characters, without control characters, neither . nor .., percent-encoded as UTF-8.",
      value.length > 256 ? { limit: 256, value: value.length } : undefined,
    ),
  );
}

function isDecodable(url: string): boolean {
  if (!url.includes("%")) return true;
  try {
    decodeURIComponent(url.replace(/\?.*/s, ""));
    return true;
  } catch {
    return false;
  }
}

/** A query whose every field is there once: of two, one would be asked for and the other be forgotten. @throws HoldfastError `invalid_request` */
export function onceEach(request: {
  queries(): Record<string, string[]>;
}): Readonly<Record<string, string>> {
  const fields = Object.entries(request.queries());
  const twice = fields.find(([, values]) => values.length > 1);
  if (!twice) return Object.fromEntries(fields.map(([name, [value = ""]]) => [name, value]));
  const name = twice[0].slice(0, 64);
  throw new HoldfastError(reject("invalid_request", `${name}: must be there once, or absent.`));
}

/** Which page the query asks for. @throws HoldfastError `invalid_request` */
export function pageOf(
  request: { query(name: string): string | undefined },
  most: number,
): { readonly limit: number; readonly after?: string; readonly newestFirst?: boolean } {
  const limit = limitOf(request.query("limit"), most);
  const after = request.query("after");
  const order = request.query("order") ?? "oldest";
  if (order !== "oldest" && order !== "newest") {
    throw new HoldfastError(reject("invalid_request", "order: must be oldest or newest."));
  }
  return {
    limit,
    ...(after !== undefined && { after }),
    ...(order === "newest" && { newestFirst: true }),
  };
}

/** The number to read on after, from the query; 0 where there is none. @throws HoldfastError `invalid_request` */
export function numberAfter(value: string | undefined): number {
  if (value === undefined || /^\d{1,15}$/.test(value)) return Number(value ?? 0);
  throw new HoldfastError(
    reject("invalid_request", "after: must be the number of a record, or absent."),
  );
}

/** A page's size from the query. @throws HoldfastError `invalid_request` */
export function limitOf(value: string | undefined, most: number): number {
  if (value === undefined) return most;
  const limit = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (limit >= 1) return Math.min(limit, most);
  throw new HoldfastError(
    reject("invalid_request", "limit: must be a whole number of at least 1."),
  );
}
