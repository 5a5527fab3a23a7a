import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { until } from "../support/clock.ts";
import { endpoint, text, type Asked, type Script } from "./endpoint.ts";
import { scene } from "./scene.ts";

const SSE = { "content-type": "text/event-stream" };

function runOf({ input: { threadId, runId } }: Asked, ...events: object[]): string {
  const all = [
    { type: "RUN_STARTED", threadId, runId },
    ...events,
    { type: "RUN_FINISHED", threadId, runId },
  ];
  return all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

const SAID = text("t", "So.");

describe("12.5 an answer of an AG-UI endpoint that is odd and right", () => {
  it.each<[string, Script]>([
    [
      "is compressed",
      (asked) => {
        asked.response.writeHead(200, { ...SSE, "content-encoding": "gzip" });
        asked.response.end(gzipSync(runOf(asked, ...SAID)));
      },
    ],
    [
      "names its characters",
      (asked) => {
        asked.response.writeHead(200, { "content-type": "Text/Event-Stream; charset=utf-8" });
        asked.response.end(runOf(asked, ...SAID));
      },
    ],
    [
      "has another 2xx",
      (asked) => void asked.response.writeHead(201, SSE).end(runOf(asked, ...SAID)),
    ],
    [
      "ends its lines in CR and LF",
      (asked) => asked.write(runOf(asked, ...SAID).replaceAll("\n", "\r\n")).end(),
    ],
    [
      "comes byte by byte",
      async (asked) => {
        for (const byte of Buffer.from(runOf(asked, ...SAID))) {
          await new Promise((resolve) => {
            if (!asked.response.headersSent) asked.response.writeHead(200, SSE);
            asked.response.write(Buffer.of(byte), resolve);
          });
        }
        asked.end();
      },
    ],
    ["lacks its last empty line", (asked) => asked.write(runOf(asked, ...SAID).trimEnd()).end()],
    [
      "goes on with what is no event",
      (asked) => asked.write(`${runOf(asked, ...SAID)}data: {oops\n\n`).end(),
    ],
    [
      "is broken off behind its end",
      (asked) => {
        asked.write(runOf(asked, ...SAID));
        asked.response.write(": and\n\n", () => asked.kill());
      },
    ],
    [
      "has another run before it",
      (asked) => {
        const { threadId } = asked.input;
        const before = { ...asked, input: { ...asked.input, threadId, runId: "before" } };
        asked.write(runOf(before, ...text("b", "Before.")) + runOf(asked, ...SAID)).end();
      },
    ],
  ])("it %s", async (_, script) => {
    await using agent = await endpoint(script);
    await using desk = scene({ url: agent.url });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({
      outcome: "complete",
    });
    expect(await desk.texts()).toEqual(["So."]);
    expect(agent.asked).toHaveLength(1);
  });

  it("and stays open: its run ends all the same, and the connection is closed", async () => {
    await using agent = await endpoint((asked) => void asked.write(runOf(asked, ...SAID)));
    const waits: number[] = [];
    await using desk = scene({
      url: agent.url,
      schedule: (ms, run) => {
        waits.push(ms);
        const timer = setTimeout(run, ms === 5_000 ? 20 : ms);
        return () => clearTimeout(timer);
      },
    });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({
      outcome: "complete",
    });
    await agent.asked[0]?.closed;
    expect(waits).toContain(5_000);
  });
});

describe("12.5 an answer of an AG-UI endpoint that is none", () => {
  it.each<[string, Script, string, RegExp]>([
    [
      "HTML",
      ({ response }) =>
        void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
      "agent_invalid",
      /it is text\/html/,
    ],
    [
      "nothing",
      ({ response }) => void response.writeHead(204).end(),
      "agent_invalid",
      /of no type/,
    ],
    [
      "bytes that are not what they are said to be",
      ({ response }) =>
        void response.writeHead(200, { ...SSE, "content-encoding": "gzip" }).end("no gzip"),
      "agent_lost",
      /broke/,
    ],
    [
      "a 500 that never ends",
      async ({ response, closed }) => {
        response.writeHead(500);
        const drip = setInterval(() => response.write("Oh no. "), 1);
        await closed;
        clearInterval(drip);
      },
      "agent_refused",
      /500: (?:Oh no\. )+/,
    ],
    [
      "two runs of which none was asked for",
      (asked) => {
        const other = (runId: string) => ({ ...asked, input: { ...asked.input, runId } });
        asked.write(runOf(other("x"), ...SAID) + runOf(other("y"))).end();
      },
      "protocol_violation",
      /without the run that was asked for/,
    ],
    [
      "a run of another thread",
      (asked) => {
        asked.write(runOf({ ...asked, input: { ...asked.input, threadId: "x" } }, ...SAID)).end();
      },
      "protocol_violation",
      /D2/,
    ],
    [
      "an event before its run",
      (asked) => asked.send(...SAID).finish(),
      "protocol_violation",
      /V3/,
    ],
  ])("%s", async (_, script, code, words) => {
    await using agent = await endpoint(script);
    await using desk = scene({ url: agent.url, agent: { tries: 1 } });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code } });
    expect(run.error?.message).toMatch(words);
    expect(await desk.texts()).toEqual([]);
    expect(agent.asked).toHaveLength(1);
    await until("the connection to be closed", () => agent.asked[0]?.response.closed ?? false);
  });

  it("headers that never end: it did not answer, and its connection is closed", async () => {
    await using agent = await endpoint(async ({ response, closed }) => {
      const { socket } = response;
      socket?.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket?.write(`x-${Date.now()}: y\r\n`), 5);
      await closed;
      clearInterval(drip);
    });
    await using desk = scene({ url: agent.url, agent: { answerMs: 60 } });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "agent_silent" } });
    await agent.asked[0]?.closed;
    expect(agent.asked).toHaveLength(1);
  });

  it("headers beyond any measure", async () => {
    await using agent = await endpoint(({ response }) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}\r\n\r\n`);
    });
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "agent_lost" } });
    expect(agent.asked).toHaveLength(1);
  });
});
