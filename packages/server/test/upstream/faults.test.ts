import { createAgUiEncoder } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../src/index.ts";
import { until } from "../support/clock.ts";
import { call, endpoint, result, text } from "./endpoint.ts";
import { scene } from "./scene.ts";

/** More than one event may have. */
const LONG = "x".repeat(2 << 20);
const finished = (outcome: object) => ({ type: "RUN_FINISHED", outcome });

describe("12.5 an AG-UI endpoint that fails", () => {
  it.each([
    ["ends without its run's end", (end: { end(): void }) => end.end()],
    ["is killed", (end: { kill(): void }) => end.kill()],
  ])("in the middle of a call: its run fails, what came before stands: it %s", async (_, cut) => {
    await using agent = await endpoint(async (asked) => {
      const [start, args] = call("c1", "search");
      asked.start(...text("t", "so"), start ?? {}, args ?? {});
      await until("the call", async () => (await desk.state()).calls.has("c1"));
      cut(asked as never);
    });
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "agent_lost" }, attempt: 1 });
    expect(await desk.texts()).toEqual(["so"]);
    expect(await desk.call("c1")).toMatchObject({ outcome: "abandoned", reason: "run_failed" });
    expect(agent.asked).toHaveLength(1);
  });

  it.each([
    ["nothing", ""],
    ["half a frame", 'data: {"type":"RUN_STA'],
  ])("a stream that is cut is never a success: %s", async (_, what) => {
    await using agent = await endpoint((asked) => asked.write(`${what}`).end());
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "agent_lost" } });
  });

  it("breaks the protocol in the middle of its run: the failure names rule and event", async () => {
    await using agent = await endpoint((asked) => {
      const [, content] = text("nobody", "x");
      asked.start(...text("t", "so")).send(content ?? {}, ...text("u", "lost"));
    });
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run.error?.code).toBe("protocol_violation");
    expect(run.error?.message).toMatch(/^Event 4 \(TEXT_MESSAGE_CONTENT\) breaks rule V8: /);
    expect(await desk.texts()).toEqual(["so"]);
    await agent.asked[0]?.closed;
  });

  it.each([
    ["whose failure says a lot", { type: "RUN_ERROR", code: LONG, message: LONG }, "x"],
    [
      "that breaks the protocol by a long id",
      { type: "TEXT_MESSAGE_END", messageId: LONG },
      "protocol_violation",
    ],
    [
      "whose interrupt is larger than a session takes",
      finished({ type: "interrupt", interrupts: [{ id: "i", reason: "ask", message: LONG }] }),
      "too_large",
    ],
  ])("one %s ends its run as an error, and says so within limits", async (_, event, code) => {
    await using agent = await endpoint((asked) => {
      const { threadId, runId } = asked.input;
      asked.start({ threadId, runId, ...event }).end();
    });
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: expect.stringContaining(code) } });
    expect(JSON.stringify(run).length).toBeLessThan(20_000);
    expect(agent.asked).toHaveLength(1);
  });

  it.each([
    ["a frame that is no JSON", "data: {oops\n\n", /Frame 0 of its stream is no JSON/],
    [
      "a frame that is too long",
      `data: "${"x".repeat(10 * 1024 * 1024)}`,
      /more than 10485760 characters/,
    ],
  ])("%s", async (_, what, words) => {
    await using agent = await endpoint((asked) => void asked.write(what).write("\n\n"));
    await using desk = scene({ url: agent.url });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ error: { code: "agent_invalid" } });
    expect(run.error?.message).toMatch(words);
  });

  it("is asked again where nobody listens, a bounded number of times", async () => {
    const gone = await endpoint();
    await gone[Symbol.asyncDispose]();
    await using desk = scene({ url: gone.url, agent: { tries: 3 } });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({
      outcome: "error",
      error: { code: "agent_unreachable" },
      attempt: 1,
    });
    expect(run.error?.message).toContain("ECONNREFUSED");
    expect(run.error?.message).not.toContain(String(gone.port));
  });

  it("is asked again after 5xx and 429, and works when it is back", async () => {
    await using agent = await endpoint(
      ({ response }) => void response.writeHead(503).end(),
      ({ response }) => void response.writeHead(429).end(),
      (asked) => asked.start(...text("t", "Back.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({
      outcome: "complete",
      attempt: 1,
    });
    expect(new Set(agent.asked.map(({ input }) => input.runId)).size).toBe(1);
  });

  it("whose last answer is an error is told of with status and words, of which it has no more than fit", async () => {
    const words = `Internal\n\u0000 error ${"x".repeat(2000)}`;
    await using agent = await endpoint(({ response }) => void response.writeHead(500).end(words));
    await using desk = scene({ url: agent.url, agent: { tries: 2 } });
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run.error?.code).toBe("agent_refused");
    expect(run.error?.message).toMatch(
      /^The agent answered with HTTP status 500: Internal error x{480,500}$/,
    );
    expect(agent.asked).toHaveLength(2);
  });

  it.each([
    [
      "400",
      (response: { writeHead(status: number): { end(): void } }) => response.writeHead(400).end(),
      "agent_refused",
    ],
    [
      "a redirect",
      (response: { writeHead(status: number, headers: object): { end(): void } }) =>
        response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "agent_refused",
    ],
    [
      "a 200 of JSON",
      (response: { writeHead(status: number, headers: object): { end(text: string): void } }) =>
        response.writeHead(200, { "content-type": "application/json" }).end("{}"),
      "agent_invalid",
    ],
    [
      "a connection that is broken before it answers",
      (response: { destroy(): void }) => response.destroy(),
      "agent_lost",
    ],
  ])("is not asked again after %s", async (_, answer, code) => {
    await using agent = await endpoint(({ response }) => answer(response as never));
    await using desk = scene({ url: agent.url });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({ error: { code } });
    expect(agent.asked).toHaveLength(1);
  });

  it.each([
    ["never answers", { answerMs: 30 }, () => {}],
    ["falls silent", { silenceMs: 30 }, (asked: { start(): void }) => asked.start()],
    [
      "takes too long, whatever it says",
      { runMs: 100 },
      async (asked: { start(): void; write(text: string): void; closed: Promise<void> }) => {
        asked.start();
        const beat = setInterval(() => asked.write(": still here\n\n"), 5);
        await asked.closed;
        clearInterval(beat);
      },
    ],
  ])("that %s fails its run, and its connection is closed", async (_, agentOptions, script) => {
    await using agent = await endpoint((asked) => script(asked as never));
    await using desk = scene({ url: agent.url, agent: agentOptions });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({
      error: { code: "agent_silent" },
    });
    await agent.asked[0]?.closed;
  });

  it("keeps its attempt while it works longer than a lease, and says nothing", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    await using agent = await endpoint(async (asked) => {
      asked.start();
      await go;
      asked.finish();
    });
    await using desk = scene({ url: agent.url, leaseMs: 400, heartbeatMs: 20 });
    const runId = await desk.say("Hi");
    await until("it is at work", () => agent.asked.length === 1);
    const end = Date.now() + 1_200;
    await until("three leases to pass", () => Date.now() > end);
    resolve();
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete", attempt: 1 });
  });

  it("fails alone: another session's run goes on", async () => {
    await using agent = await endpoint((asked) => {
      if (asked.input.threadId === "a") asked.kill();
      else asked.start(...text("t", "fine")).finish();
    });
    await using desk = scene({ url: agent.url });
    const [a, b] = [await desk.say("Hi", "a"), await desk.say("Hi", "b")];
    expect(await desk.reaches(a, "ended", "a")).toMatchObject({ outcome: "error" });
    expect(await desk.reaches(b, "ended", "b")).toMatchObject({ outcome: "complete" });
  });
});

describe("12.5 a run of an AG-UI endpoint that is stopped", () => {
  it("by a cancel: its connection is closed, and nothing more is taken", async () => {
    await using agent = await endpoint(
      (asked) => void asked.start(...text("t", "so"), ...call("c1", "search")),
    );
    await using desk = scene({ url: agent.url, leaseMs: 600_000, heartbeatMs: 600_000 });
    const runId = await desk.say("Hi");
    await until("the call", async () => (await desk.state()).calls.get("c1")?.status === "claimed");
    await desk.command({ type: "run.cancel", runId });
    await agent.asked[0]?.closed;
    expect(await desk.run(runId)).toMatchObject({ outcome: "cancelled" });
    expect(await desk.call("c1")).toMatchObject({ outcome: "cancelled" });
    agent.asked[0]?.send(result("c1", "late"));
    expect(await desk.texts()).toEqual(["so"]);
  });

  it("by a session that is deleted", async () => {
    await using agent = await endpoint((asked) => void asked.start());
    await using desk = scene({ url: agent.url, heartbeatMs: 10 });
    await desk.say("Hi");
    await until("it is at work", () => agent.asked.length === 1);
    const token = await desk.server.mint("user:ana", [{ sessions: "*", verbs: ["admin"] }]);
    const headers = { authorization: `Bearer ${token}` };
    await desk.server.fetch(
      new Request("http://server.test/v1/sessions/s", { method: "DELETE", headers }),
    );
    await agent.asked[0]?.closed;
  });

  it("by its server, which hands it back: text alone is taken back and asked for again, under a new id", async () => {
    await using agent = await endpoint(
      (asked) => void asked.start(...text("t", "half")),
      (asked) => asked.start(...text("u", "whole")).finish(),
    );
    const storage = memoryStorage();
    const first = scene({ url: agent.url, storage });
    const runId = await first.say("Hi");
    await until("the text", async () => (await first.texts())[0] === "half");
    await first.server.close();
    await agent.asked[0]?.closed;
    await using second = scene({ url: agent.url, storage });
    expect(await second.reaches(runId, "ended")).toMatchObject({
      outcome: "complete",
      attempt: 2,
      losses: 0,
    });
    expect(await second.texts()).toEqual(["whole"]);
    expect(new Set(agent.asked.map(({ input }) => input.runId)).size).toBe(2);
  });

  it("by its server, in the middle of a call: nobody can say whether that was made, so it is not asked for again", async () => {
    await using agent = await endpoint(
      (asked) => void asked.start(...text("t", "so"), ...call("c1", "pay")),
    );
    const storage = memoryStorage();
    const first = scene({ url: agent.url, storage });
    const runId = await first.say("Hi");
    await until(
      "the call",
      async () => (await first.state()).calls.get("c1")?.status === "claimed",
    );
    await first.server.close();
    await using second = scene({ url: agent.url, storage });
    const run = await second.reaches(runId, "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "agent_lost" } });
    expect(await second.texts()).toEqual(["so"]);
    expect(await second.call("c1")).toMatchObject({ reason: "executor_lost" });
    expect(agent.asked).toHaveLength(1);
  });
});

it.each([
  ["has begun to answer: it may have made the call", true, 2, { error: { code: "agent_lost" } }],
  ["has not: it is asked again", false, 3, { outcome: "complete" }],
])(
  "12.5.15 a server stops when the agent was given an approval, and %s",
  async (_, hasBegun, times, end) => {
    const asks = [{ id: "i1", reason: "tool_call", toolCallId: "c1" }];
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...call("c1", "pay"))
          .finish({ outcome: { type: "interrupt", interrupts: asks } }),
      (asked) => void (hasBegun && asked.start({ type: "CUSTOM", name: "begun", value: 1 })),
      (asked) => asked.start(result("c1", "paid")).finish(),
    );
    const storage = memoryStorage();
    const first = scene({ url: agent.url, storage });
    const runId = await first.say("Hi");
    await first.reaches(runId, "suspended");
    const decision = { callId: "c1", approvalId: "i1", approved: true };
    await first.command({ type: "call.decide", ...decision });
    await until("the agent to be asked again", () => agent.asked.length === 2);
    await until("what it said", async () => {
      return !hasBegun || JSON.stringify(await first.run(runId)).includes('"2"');
    });
    await first.server.close();
    await using second = scene({ url: agent.url, storage });
    expect(await second.reaches(runId, "ended")).toMatchObject(end);
    expect(agent.asked).toHaveLength(times);
  },
);

describe("12.5 a run of an AG-UI endpoint whose server was killed", () => {
  /** What a server leaves that was killed when this much of the agent's answer was in the log. */
  async function killedAfter(url: string, ...said: object[]) {
    const storage = memoryStorage();
    const dead = scene({ url, storage, agents: {} });
    const runId = await dead.say("Hi");
    const token = await dead.server.mint("agent:demo");
    const post = async (path: string, body: object, bearer = token) => {
      const headers = { authorization: `Bearer ${bearer}` };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      return (await dead.server.fetch(new Request(`http://server.test/v1${path}`, request))).json();
    };
    const claim = { agent: "demo", worker: "upstream", instance: "i", claims: false };
    const { work } = (await post("/work/claim", claim)) as { work: { token: string } };
    const encoder = createAgUiEncoder({ runId, attempt: 1 });
    const items = said.flatMap((event) => encoder.encode(event));
    const fence = { id: "a", type: "run.append", runId, attempt: 1, producer: "upstream", seq: 1 };
    if (items.length > 0) await post("/sessions/s/commands", { ...fence, items }, work.token);
    await dead.server.close();
    return { storage, runId };
  }
  const started = { type: "RUN_STARTED", threadId: "s", runId: "r" };
  const finished = { type: "RUN_FINISHED", threadId: "s", runId: "r" };

  it.each([
    ["before anything came", []],
    ["while only text had come, which is taken back", [started, ...text("t", "half")]],
  ])("is asked for again %s, at once", async (_, said) => {
    await using agent = await endpoint((asked) => asked.start(...text("u", "whole")).finish());
    const { storage, runId } = await killedAfter(agent.url, ...said);
    await using desk = scene({ url: agent.url, storage });
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete", attempt: 2 });
    expect(await desk.texts()).toEqual(["whole"]);
  });

  it.each([
    [
      "a call was made",
      [started, ...call("c1", "pay")],
      { outcome: "error", error: { code: "agent_lost" } },
    ],
    ["it had ended", [started, ...text("t", "so"), finished], { outcome: "complete" }],
    [
      "it had failed",
      [started, { type: "RUN_ERROR", message: "No.", code: "quota" }],
      { error: { code: "quota", message: "No." } },
    ],
    [
      "it was stopped",
      [started, { ...finished, outcome: { type: "cancelled" } }],
      { outcome: "cancelled" },
    ],
  ])("is not asked for again after %s", async (_, said, end) => {
    await using agent = await endpoint();
    const { storage, runId } = await killedAfter(agent.url, ...said);
    await using desk = scene({ url: agent.url, storage });
    expect(await desk.reaches(runId, "ended")).toMatchObject(end);
    expect(agent.asked).toHaveLength(0);
  });
});

it("12.5 an endpoint is the operator's word: no credentials in its URL, and http alone", () => {
  for (const url of ["ftp://a.test/", "http://me:secret@a.test/", "nonsense"]) {
    expect(() => scene({ url })).toThrow(/^Agent demo: /);
    expect(() => scene({ url })).not.toThrow(/secret/);
  }
});
