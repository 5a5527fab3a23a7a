import { describe, expect, it } from "vitest";
import { threadEvents } from "../../src/copilotkit/thread-events.ts";
import { createTransport } from "../../src/wire/index.ts";
import { manualTiming } from "../support/manual-timing.ts";

const STARTED = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const text = (delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });

/** An answer of the server: its frames, and whether it breaks off behind them. */
interface Answer {
  readonly frames: readonly { readonly id?: string; readonly event: object }[];
  readonly breaks?: boolean;
}

const refusal = (status: number, code: string) =>
  Response.json({ code, detail: "No." }, { status });

function streamOf({ frames, breaks = false }: Answer): Response {
  const said = frames.map(
    ({ id, event }) => `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = said.shift();
      if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
      else if (breaks) controller.error(new TypeError("terminated"));
      else controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Reads what a server that answers so is told to tell. */
async function read(
  answers: readonly (Answer | Response | "down")[],
  { patienceMs = 60_000 } = {},
) {
  const asked: (string | null)[] = [];
  const bodies = new Set<string>();
  const transport = createTransport({
    url: "http://server.test",
    backoff: { baseMs: 0, maxMs: 0 },
    async fetch(input, init) {
      const request = new Request(input, init);
      const answer = answers[asked.length];
      asked.push(request.headers.get("last-event-id"));
      bodies.add(await request.text());
      if (answer === "down" || answer === undefined) throw new TypeError("fetch failed");
      return answer instanceof Response ? answer : streamOf(answer);
    },
  });
  const events: object[] = [];
  const { signal } = new AbortController();
  let error: unknown;
  try {
    for await (const event of threadEvents(transport, {
      path: "/x",
      body: `{"runId":"r"}`,
      signal,
      patienceMs,
    }))
      events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  return { events, asked, bodies: [...bodies], error };
}

describe("threadEvents", () => {
  it("tells what the server tells, to its end", async () => {
    const frames = [
      { event: STARTED, id: "1" },
      { event: text("One."), id: "2" },
    ];
    const told = await read([{ frames: [...frames, { event: FINISHED, id: "3" }] }]);
    expect(told).toEqual({
      events: [STARTED, text("One."), FINISHED],
      asked: [null],
      bodies: [`{"runId":"r"}`],
      error: undefined,
    });
  });

  it("of a thread of which there is nothing to tell is empty", async () => {
    expect(await read([{ frames: [] }])).toMatchObject({ events: [], asked: [null] });
  });

  const cut = {
    frames: [
      { event: STARTED, id: "1" },
      { event: text("One."), id: "2" },
    ],
  };
  const rest = {
    frames: [
      { event: text(" Two."), id: "3" },
      { event: FINISHED, id: "4" },
    ],
  };
  const closed = { type: "RUN_ERROR", message: "The server ended the stream.", code: "closed" };
  const expired = { type: "RUN_ERROR", message: "The token has ended.", code: "unauthenticated" };
  it.each([
    ["the connection breaks", { ...cut, breaks: true }],
    ["the server closes", { frames: [...cut.frames, { event: closed }] }],
    ["its token ends", { frames: [...cut.frames, { event: expired }] }],
    ["the stream ends before its run", cut],
  ])("goes on behind the last event when %s", async (_, first) => {
    expect(await read([first, "down", refusal(503, "overloaded"), rest])).toEqual({
      events: [STARTED, text("One."), text(" Two."), FINISHED],
      asked: [null, "2", "2", "2"],
      bodies: [`{"runId":"r"}`],
      error: undefined,
    });
  });

  it("ends where it is cut off behind the end, and nothing follows", async () => {
    const whole = {
      frames: [
        { event: STARTED, id: "1" },
        { event: FINISHED, id: "2" },
      ],
    };
    const { events, asked, error } = await read([{ ...whole, breaks: true }, { frames: [] }]);
    expect([events, asked, error]).toEqual([[STARTED, FINISHED], [null, "2"], undefined]);
  });

  it("passes a run's own error on, whatever its code", async () => {
    const failed = { type: "RUN_ERROR", message: "No.", code: "closed" };
    const frames = [
      { event: STARTED, id: "1" },
      { event: failed, id: "2" },
    ];
    expect(await read([{ frames }])).toMatchObject({ events: [STARTED, failed], asked: [null] });
  });

  it("asks a server that is away again", async () => {
    const frames = [
      { event: STARTED, id: "1" },
      { event: FINISHED, id: "2" },
    ];
    expect(await read(["down", "down", { frames }])).toMatchObject({
      events: [STARTED, FINISHED],
      asked: [null, null, null],
    });
  });

  it.each([
    ["refuses", [refusal(409, "calls_pending")], "calls_pending", 1],
    ["cannot go on where it was", [{ ...cut, breaks: true }, refusal(409, "reset")], "reset", 2],
    ["broke off where nobody can go on", [{ frames: [{ event: STARTED }] }], "unreachable", 1],
  ] as const)("throws where the server %s", async (_, answers, code, requests) => {
    const { error, asked } = await read(answers);
    expect(error).toMatchObject({ code });
    expect(asked).toHaveLength(requests);
  });

  it("gives up a server that is away for too long", async () => {
    const { timing, pass } = manualTiming();
    let tries = 0;
    const transport = createTransport({
      url: "http://server.test",
      backoff: { baseMs: 1_000, maxMs: 1_000 },
      timing,
      fetch: () => ((tries += 1), Promise.reject(new TypeError("fetch failed"))),
    });
    const { signal } = new AbortController();
    const events = threadEvents(transport, { path: "/x", body: "{}", signal, patienceMs: 3_000 });
    const failed = expect(events.next()).rejects.toMatchObject({ code: "unreachable" });
    await pass(10_000);
    await failed;
    expect(tries).toBe(4);
  });
});
