import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { expect } from "vitest";
import type { House } from "../cases/support.ts";

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The answer's `code`, where it is a problem. */
  readonly code: unknown;
  /** The port this end of the connection has: the same again means the same connection. */
  readonly socket: number | undefined;
}

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  /** Sent in chunks, without a length, unless a header declares one. */
  readonly body?: string | Uint8Array;
}

/** One connection that is kept open, for requests as no well-behaved client would send them. */
export function connect(url: string, token: string) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask({ method = "GET", path, headers = {}, body }: Asked): Promise<Answered> {
      return new Promise((resolve, reject) => {
        const options = { hostname, port, method, path, agent };
        const sent = request(
          { ...options, headers: { authorization: `Bearer ${token}`, ...headers } },
          (response) => {
            const socket = sent.socket?.localPort;
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () => {
              const text = Buffer.concat(chunks).toString();
              const { statusCode: status = 0, headers: got } = response;
              resolve({ status, headers: got, text, code: codeOf(got, text), socket });
            });
          },
        );
        sent.on("error", reject);
        // Written apart from the end, it gets no length of its own.
        if (body !== undefined) sent.write(body);
        sent.end();
      });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

export type Connection = ReturnType<typeof connect>;

function codeOf(headers: IncomingHttpHeaders, text: string): unknown {
  if (headers["content-type"] !== "application/problem+json") return undefined;
  return (JSON.parse(text) as { code?: unknown }).code;
}

/** A development token of one of the house's people. */
export async function tokenOf(house: House, name: string): Promise<string> {
  const { body } = await house.ana.call("POST", "/v1/dev/token", { name });
  return (body as { token: string }).token;
}

/** All that can be seen of the house's session, to compare it with later. */
export async function photograph(house: House): Promise<string> {
  const path = `/v1/sessions/${encodeURIComponent(house.session)}`;
  const state = await house.ana.call("GET", `${path}/state`);
  const log = await house.ana.call("GET", `${path}/entries`);
  return JSON.stringify([state, log]);
}

/** Does something that must be refused, and shows that nothing came of it. */
export async function changesNothing<T>(house: House, act: () => Promise<T>): Promise<T> {
  const before = await photograph(house);
  const result = await act();
  expect(await photograph(house)).toBe(before);
  return result;
}
