import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";

/** A web-standard handler on a free port of loopback, which may be replaced while it listens. */
export async function openReceiver() {
  const receiver = {
    url: "",
    /** The bodies' ids as they came. */
    ids: [] as (string | null)[],
    handle: (_request: Request): Response | Promise<Response> =>
      new Response(null, { status: 503 }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const listener = getRequestListener((request) => {
    receiver.ids.push(request.headers.get("webhook-id"));
    return receiver.handle(request);
  });
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("It does not listen.");
  receiver.url = `http://127.0.0.1:${address.port}/hook`;
  return receiver;
}
