import type { App } from "../context.ts";
import { problemOf } from "../problem.ts";
import type { PlainRequest } from "./connection.ts";

/**
 * The whole app for plain requests, as web-standard ones.
 *
 * @returns undefined for one that cannot be such: Node's own parser and the app say what is wrong with it
 */
export function plainApp(
  app: App,
  log: (message: string, error: unknown) => void,
): (request: PlainRequest) => Promise<Response> | undefined {
  return ({ head: { method, target, headers }, body, connection }) => {
    const isRead = method === "GET" || method === "HEAD";
    const url = URL.parse(`http://${headers.get("host") ?? ""}${target}`);
    if (!url || (isRead && body.length > 0)) return undefined;
    const gone = new AbortController();
    connection.onGone = () => gone.abort();
    const request = new Request(url, {
      method,
      headers: [...headers],
      signal: gone.signal,
      ...(!isRead && { body }),
    });
    return respond(app, request, log, () => connection.destroy());
  };
}

async function respond(
  app: App,
  request: Request,
  log: (message: string, error: unknown) => void,
  destroy: () => void,
): Promise<Response> {
  try {
    return await app.fetch(request, { connection: { destroy } });
  } catch (error) {
    return problemOf(error, log);
  }
}
