/** A network between an agent and its server that can be cut and that loses answers. */
export function createNetwork() {
  let isCut = false;
  let lost = 0;
  let loses: (request: { method: string; path: string; body: string }) => boolean = () => false;
  const requests: { path: string; body: string }[] = [];
  let line = new AbortController();

  const through: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const body = typeof init?.body === "string" ? init.body : "";
    const request = { method: init?.method ?? "GET", path: url.pathname, body };
    requests.push(request);
    if (isCut) throw new TypeError("the network is cut");
    const signal = init?.signal ? AbortSignal.any([init.signal, line.signal]) : line.signal;
    const response = await fetch(input, { ...init, signal });
    if (!loses(request)) return response;
    lost += 1;
    await response.body?.cancel();
    throw new TypeError("the answer was lost");
  };

  return {
    fetch: through,
    requests,
    /** How many answers were lost. */
    get lost() {
      return lost;
    },
    /** Breaks every connection, and lets no other be made. */
    cut() {
      isCut = true;
      line.abort(new TypeError("the network was cut"));
      line = new AbortController();
    },
    mend: () => void (isCut = false),
    /** From now on loses the answers to these requests, after the server has acted on them. */
    lose: (which: typeof loses) => void (loses = which),
  };
}
