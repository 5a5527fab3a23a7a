import { describe, expect, it } from "vitest";
import { until } from "../support/clock.ts";
import { call, endpoint, result, text } from "./endpoint.ts";
import { scene } from "./scene.ts";

describe("12.5 a run of an AG-UI endpoint", () => {
  it("is asked for with thread, run, history and tools, and its words are the session's", async () => {
    await using agent = await endpoint((asked) => asked.start(...text("t1", "Hello.")).finish());
    await using desk = scene({
      url: agent.url,
      agent: { headers: { authorization: "Bearer key" } },
    });
    await desk.advertise("confirm");
    const runId = await desk.say("Hi");
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete" });
    expect(await desk.texts()).toEqual(["Hello."]);
    expect(agent.asked[0]?.headers).toMatchObject({
      authorization: "Bearer key",
      accept: "text/event-stream",
      "content-type": "application/json",
    });
    expect(agent.asked[0]?.input).toEqual({
      threadId: "s",
      runId: `${runId}:1`,
      protocolVersion: "1.0",
      state: {},
      messages: [{ id: expect.any(String), role: "user", content: "Hi" }],
      tools: [{ name: "confirm", description: "confirm.", parameters: { type: "object" } }],
      context: [],
      forwardedProps: {},
    });
  });

  it.each([
    ["CR LF", "\r\n"],
    ["CR", "\r"],
  ])("D13: is read whatever its lines end in: %s", async (_, end) => {
    await using agent = await endpoint((asked) => {
      const { threadId, runId } = asked.input;
      const run = { threadId, runId };
      const events = [
        { type: "RUN_STARTED", ...run },
        ...text("t1", "Hello."),
        { type: "RUN_FINISHED", ...run },
      ];
      asked.write(events.map((event) => `data: ${JSON.stringify(event)}${end}${end}`).join(""));
      asked.end();
    });
    await using desk = scene({ url: agent.url });
    expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({
      outcome: "complete",
    });
    expect(await desk.texts()).toEqual(["Hello."]);
  });

  it("goes on with what was said before: text, calls and their results, under their ids", async () => {
    const first = [
      ...text("t1", "Look."),
      ...call("c1", "search", '{"q":1}'),
      result("c1", "found"),
      ...text("t2", "So."),
    ];
    await using agent = await endpoint(
      (asked) => asked.start(...first).finish(),
      (asked) => asked.start(...text("t3", "Again.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.reaches(await desk.say("One"), "ended");
    await desk.reaches(await desk.say("Two"), "ended");
    const made = { id: "c1", type: "function", function: { name: "search", arguments: '{"q":1}' } };
    expect(agent.asked[1]?.input.messages).toEqual([
      { id: "u-1", role: "user", content: "One" },
      { id: "t1", role: "assistant", content: "Look." },
      { id: "c1", role: "assistant", toolCalls: [made] },
      { id: "r-c1", role: "tool", toolCallId: "c1", content: "found" },
      { id: "t2", role: "assistant", content: "So." },
      { id: expect.any(String), role: "user", content: "Two" },
    ]);
  });

  it("is durable as it comes: a token is there before the next is sent", async () => {
    await using agent = await endpoint(async (asked) => {
      asked.start({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
      asked.send({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "one " });
      await until("the first token", async () => (await desk.texts())[0] === "one ");
      asked.send({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "two" });
      asked.send({ type: "TEXT_MESSAGE_END", messageId: "t" });
      asked.finish();
    });
    await using desk = scene({ url: agent.url });
    await desk.reaches(await desk.say("Hi"), "ended");
    expect(await desk.texts()).toEqual(["one two"]);
  });

  it("keeps state, activities, reasoning with encrypted values and subagents, and has the state sent back", async () => {
    const whole = [
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/m", value: null }] },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "plan", content: { steps: [] } },
      { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "hm" },
      { type: "REASONING_MESSAGE_END", messageId: "r" },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "r",
        encryptedValue: "secret",
      },
      { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "helper" },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "s", delta: "From below.", subagentRunId: "sub" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "sub" },
    ];
    await using agent = await endpoint(
      (asked) => asked.start(...whole).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.reaches(await desk.say("One"), "ended");
    await desk.reaches(await desk.say("Two"), "ended");
    const { state, messages } = agent.asked[1]?.input ?? {};
    expect(state).toEqual({ n: 1, m: null });
    expect(messages?.slice(1, -1)).toEqual([
      { id: "r", role: "reasoning", content: "hm", encryptedValue: "secret" },
      { id: "s", role: "assistant", content: "From below.", subagentRunId: "sub" },
    ]);
    const kinds = [...(await desk.state()).items.values()].flatMap((it) =>
      it.kind === "event" ? [it.event.type] : [],
    );
    expect(kinds).toContain("ACTIVITY_SNAPSHOT");
    expect(kinds).toContain("SUBAGENT_FINISHED");
  });

  it("has its own ids back, of those that it used again the newest", async () => {
    const say = (words: string, q: string) => [
      ...text("m", words),
      ...call("c", "search", q),
      result("c", words),
    ];
    await using agent = await endpoint(
      (asked) => asked.start(...say("one", '{"q":1}')).finish(),
      (asked) => asked.start(...say("two", '{"q":2}')).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    for (const words of ["One", "Two", "Three"]) await desk.reaches(await desk.say(words), "ended");
    const { messages = [] } = agent.asked[2]?.input ?? {};
    expect(messages.find(({ id }) => id === "m")).toMatchObject({ content: "two" });
    const calls = messages.flatMap((it) => (it.role === "assistant" ? (it.toolCalls ?? []) : []));
    expect(calls.map(({ function: { arguments: text } }) => text)).toEqual(['{"q":1}', '{"q":2}']);
    expect(calls[1]?.id).toBe("c");
    expect(calls[0]?.id).not.toBe("c");
    const answers = messages.flatMap((it) => (it.role === "tool" ? [it.toolCallId] : []));
    expect(answers).toEqual(calls.map(({ id }) => id));
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  it("several at once, each in its session, and no more than it may", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    await using agent = await endpoint(
      ...Array.from(
        { length: 3 },
        () => async (asked: Parameters<Parameters<typeof endpoint>[0]>[0]) => {
          asked.start(...text(`t-${asked.input.threadId}`, asked.input.threadId));
          await go;
          asked.finish();
        },
      ),
    );
    await using desk = scene({ url: agent.url, agent: { concurrency: 2 } });
    const runs = new Map<string, string>();
    for (const session of ["a", "b", "c"]) runs.set(session, await desk.say("Hi", session));
    await until("two at work", () => agent.asked.length === 2);
    expect((await desk.run(runs.get("c") ?? "", "c")).status).toBe("queued");
    resolve();
    for (const [session, runId] of runs) {
      await desk.reaches(runId, "ended", session);
      expect(await desk.texts(session)).toEqual([session]);
    }
  });

  it("ends cancelled where its agent says that it was stopped", async () => {
    await using agent = await endpoint((asked) =>
      asked.start(...text("t", "so")).finish({ outcome: { type: "cancelled" } }),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "cancelled" });
    expect(await desk.texts()).toEqual(["so"]);
  });

  it("fails with the code and words of its RUN_ERROR, a late one too", async () => {
    const error = { type: "RUN_ERROR", code: "quota", message: "No quota." };
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...text("t", "so"))
          .send(error)
          .end(),
      (asked) => {
        const { threadId, runId } = asked.input;
        asked.start().send({ type: "RUN_FINISHED", threadId, runId }, error).end();
      },
    );
    await using desk = scene({ url: agent.url });
    for (const words of ["One", "Two"]) {
      const run = await desk.reaches(await desk.say(words), "ended");
      expect(run).toMatchObject({
        outcome: "error",
        error: { code: "quota", message: "No quota." },
      });
    }
    expect(await desk.texts()).toEqual(["so"]);
  });
});
