import { describe, expect, it } from "vitest";
import { createTransport, type TransportOptions } from "../../src/wire/index.ts";
import { manualTiming } from "../support/manual-timing.ts";

const url = "http://server.test/base/";

describe("transport", () => {
  it("sends JSON, query and a fresh token under the base URL", async () => {
    const sent: Request[] = [];
    let tokens = 0;
    const transport = scripted((request) => (sent.push(request), Response.json({ fine: true })), {
      token: async () => `t${(tokens += 1)}`,
    });
    const ask = () =>
      transport.json("/v1/x", {
        method: "POST",
        body: "{}",
        query: { a: "1 2", b: undefined },
        parse: (value) => value,
      });
    expect(await ask()).toEqual({ fine: true });
    await ask();
    expect(sent.map((request) => request.url)).toEqual(
      Array(2).fill("http://server.test/base/v1/x?a=1+2"),
    );
    expect(sent.map((request) => request.headers.get("authorization"))).toEqual([
      "Bearer t1",
      "Bearer t2",
    ]);
  });

  it("tries again when the network, a proxy or the server's health fails, with the same body", async () => {
    const bodies: string[] = [];
    const answers = [
      () => Promise.reject(new TypeError("fetch failed")),
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      () => Response.json({ code: "overloaded", detail: "Later." }, { status: 503 }),
      () => new Response("<html>captive portal</html>"),
      () => Response.json(1),
    ];
    const transport = scripted(async (request) => {
      bodies.push(await request.text());
      return (answers.shift() ?? (() => Response.error()))();
    });
    const value = await transport.json("/x", {
      method: "POST",
      body: '{"id":"c1"}',
      tries: 10,
      parse: (it) => it,
    });
    expect(value).toBe(1);
    expect(bodies).toEqual(Array(5).fill('{"id":"c1"}'));
  });

  it.each([
    [
      400,
      { code: "invalid_offset", detail: "Wrong." },
      { code: "invalid_offset", message: "Wrong." },
    ],
    [401, "who?", { code: "unauthenticated" }],
    [403, "no", { code: "forbidden" }],
    [404, { title: "gone" }, { code: "not_found", message: "gone" }],
    [
      409,
      { code: "from_the_future" },
      { code: "invalid_request", details: { code: "from_the_future" } },
    ],
    [413, "", { code: "too_large" }],
  ])(
    "reads a refusal with status %i and %j, and does not repeat it",
    async (status, body, error) => {
      let requests = 0;
      const transport = scripted(() => {
        requests += 1;
        return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
      });
      await expect(transport.json("/x", { parse: (it) => it })).rejects.toMatchObject(error);
      expect(requests).toBe(1);
    },
  );

  it("gives up after its tries, with the last error", async () => {
    let requests = 0;
    const transport = scripted(() => {
      requests += 1;
      throw new TypeError("down");
    });
    await expect(transport.json("/x", { tries: 3, parse: (it) => it })).rejects.toMatchObject({
      code: "unreachable",
      retryable: true,
    });
    expect(requests).toBe(3);
  });

  it("takes a server that does not answer in time for unreachable", async () => {
    const { timing, pass } = manualTiming();
    const transport = createTransport({ url, fetch: hanging, timing, timeoutMs: 1_000 });
    const answer = transport.json("/x", { tries: 1, parse: (it) => it });
    const failed = expect(answer).rejects.toMatchObject({ code: "unreachable" });
    await pass(1_000);
    await failed;
  });

  it("rejects with the signal's reason, before and while it waits", async () => {
    const { timing } = manualTiming();
    const transport = createTransport({ url, fetch: hanging, timing });
    const controller = new AbortController();
    const answer = transport.json("/x", { signal: controller.signal, parse: (it) => it });
    controller.abort("enough");
    await expect(answer).rejects.toBe("enough");
    await expect(
      transport.json("/x", { signal: controller.signal, parse: (it) => it }),
    ).rejects.toBe("enough");
  });
});

const hanging: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    if (init?.signal?.aborted) reject(init.signal.reason);
  });

function scripted(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<TransportOptions> = {},
) {
  return createTransport({
    url,
    backoff: { baseMs: 0, maxMs: 0 },
    fetch: async (input, init) => answer(new Request(input, init)),
    ...options,
  });
}
