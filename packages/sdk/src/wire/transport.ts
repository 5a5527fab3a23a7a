import { HoldfastError } from "@holdfast/protocol";
import { isTransient, problemOf, unreachable } from "./problem.ts";
import type { SocketLane } from "./socket-session.ts";
import {
  backoffMs,
  deadline,
  DEFAULT_BACKOFF,
  linkedController,
  systemTiming,
  type Backoff,
  type Timing,
} from "./timing.ts";

export interface TransportOptions {
  /** Where the server is, such as `https://example.org/holdfast`. */
  readonly url: string;
  /** A bearer token, or what gives a fresh one; asked before every request. */
  readonly token?: string | (() => string | Promise<string>);
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
  readonly backoff?: Backoff;
  /** How long one try may take, milliseconds. Default 30 s. */
  readonly timeoutMs?: number;
  /** What commands and entries travel over instead of requests of their own. */
  readonly socket?: SocketLane;
}

export interface JsonRequest<T> {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** JSON text, so that a retry sends the very same bytes. */
  readonly body?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** How often to try when the network or the server's health fails. Default 4. */
  readonly tries?: number;
  readonly timeoutMs?: number;
  /** Checks the answer's shape. An empty answer (204) is given as undefined. */
  parse(value: unknown): T;
}

/** One server, over `fetch`, and for commands and entries over a socket where there is one. */
export interface Transport {
  readonly timing: Timing;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  readonly socket?: SocketLane;
  /**
   * One request and its JSON answer. Network failures, timeouts and 5xx are tried again with backoff, so the request
   * must be repeatable: commands are, by their ids.
   *
   * @throws {HoldfastError} the server's refusal, or `unreachable`; the signal's reason when aborted
   */
  json<T>(path: string, request: JsonRequest<T>): Promise<T>;
  /**
   * One try of a request whose answer the caller reads, a GET or with `body` (JSON text) a POST; `signal` covers the
   * answer too.
   *
   * @throws as `json`
   */
  stream(
    path: string,
    request: {
      readonly accept: string;
      readonly query?: Readonly<Record<string, string | undefined>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly signal: AbortSignal;
    },
  ): Promise<Response>;
}

export function createTransport(options: TransportOptions): Transport {
  const { token, timing = systemTiming, backoff = DEFAULT_BACKOFF, timeoutMs = 30_000 } = options;
  // A detached call: browsers refuse `fetch` with another receiver than the global object.
  const send =
    options.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init));
  const base = options.url.replace(/\/+$/, "");

  async function exchange(
    path: string,
    init: RequestInit & { signal: AbortSignal; headers: Record<string, string> },
    query: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Response> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, value);
    const url = `${base}${path}${search.size > 0 ? `?${search.toString()}` : ""}`;
    let response: Response;
    try {
      const bearer = typeof token === "function" ? await token() : token;
      if (bearer !== undefined) init.headers["authorization"] = `Bearer ${bearer}`;
      init.signal.throwIfAborted();
      response = await send(url, init);
    } catch (error) {
      if (init.signal.aborted) throw init.signal.reason;
      if (error instanceof HoldfastError) throw error;
      throw unreachable(`${base} cannot be reached: check the address and the network.`, error);
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async function once<T>(path: string, request: JsonRequest<T>): Promise<T> {
    const { controller, unlink } = linkedController(request.signal);
    const ms = request.timeoutMs ?? timeoutMs;
    const timer = deadline(timing, ms, () =>
      controller.abort(unreachable(`${base} did not answer within ${ms} ms.`)),
    );
    try {
      const response = await exchange(
        path,
        {
          method: request.method ?? "GET",
          signal: controller.signal,
          headers: {
            accept: "application/json",
            ...(request.body !== undefined && { "content-type": "application/json" }),
          },
          ...(request.body !== undefined && { body: request.body }),
        },
        request.query,
      );
      const text = await response.text().catch((error: unknown) => {
        throw unreachable(`The answer of ${base} broke off.`, error);
      });
      return request.parse(text === "" ? undefined : parseJson(text));
    } catch (error) {
      if (controller.signal.aborted) throw controller.signal.reason;
      throw error;
    } finally {
      timer.stop();
      unlink();
    }
  }

  return {
    timing,
    backoff,
    timeoutMs,
    ...(options.socket && { socket: options.socket }),
    async json(path, request) {
      const tries = request.tries ?? 4;
      for (let failures = 1; ; failures += 1) {
        try {
          return await once(path, request);
        } catch (error) {
          if (!isTransient(error) || failures >= tries) throw error;
          await timing.sleep(backoffMs(timing, failures, backoff), request.signal);
        }
      }
    },
    stream(path, { accept, headers, body, signal, query }) {
      const posted = body !== undefined && { method: "POST", body };
      const type = body !== undefined && { "content-type": "application/json" };
      const init = { ...posted, signal, headers: { accept, ...type, ...headers } };
      return exchange(path, { ...init, cache: "no-store" }, query);
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreachable(
      "The answer is not JSON: something between here and the server spoke.",
      error,
    );
  }
}
