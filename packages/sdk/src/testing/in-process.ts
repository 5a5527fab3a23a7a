/** What of a server is needed to reach it without a socket: `createServer(…)` of `holdfast` has it. */
export interface InProcessServer {
  fetch(request: Request): Response | Promise<Response>;
  mint(principal: string): Promise<string>;
}

/** What `worker`, `createClient` and `createTransport` are given to reach a server. */
export interface InProcess {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** A fresh token of the principal. */
  readonly token: () => Promise<string>;
}

/**
 * Reaches a server in the same process, as somebody: `worker({ ...inProcess(server, "agent:demo"), … })`. No socket is
 * opened; requests, streams and aborts are as over one.
 */
export function inProcess(server: InProcessServer, principal: string): InProcess {
  return {
    url: "http://in-process",
    fetch: async (input, init) => server.fetch(new Request(input, init)),
    token: () => server.mint(principal),
  };
}
