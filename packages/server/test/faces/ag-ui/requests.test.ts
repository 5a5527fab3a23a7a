import { AGUI_MEDIA_TYPE } from "@ag-ui/encoder";
import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../../src/storage/memory.ts";
import {
  call,
  eventsIn,
  openStage,
  PAGE,
  post,
  result,
  round,
  running,
  text,
  user,
  type Stage,
} from "./stage.ts";

const input = (runId: string, more: object = {}) => ({
  threadId: "s1",
  runId,
  messages: [user(`m-${runId}`, "hi")],
  ...more,
});

/** Says one thing in the run that waits. */
async function saying(stage: Stage, said = "Hello.") {
  const attempt = await stage.attempt();
  await attempt.append(...round(...text(`a-${attempt.runId}-${attempt.attempt}`, said)));
  await attempt.finish();
  return attempt;
}

const problemOf = async (response: Response) => ({
  status: response.status,
  type: response.headers.get("content-type"),
  body: (await response.json()) as Record<string, unknown>,
});

describe("12.4 what is refused is refused before the stream, and nothing is written", () => {
  it.each<[string, unknown, string, number]>([
    ["no JSON", "{", "invalid_request", 400],
    ["no input", [], "invalid_request", 400],
    ["no messages", { threadId: "s1", runId: "r" }, "invalid_request", 400],
    [
      "a message that is none",
      input("r", { messages: [{ id: "x", role: "user" }] }),
      "invalid_request",
      400,
    ],
    ["no id", input(""), "invalid_request", 400],
    ["an id that is too long", input("x".repeat(257)), "invalid_request", 400],
    ["another thread", input("r", { threadId: "s2" }), "invalid_request", 400],
    ["nothing to answer", input("r", { messages: [] }), "invalid_request", 400],
    [
      "a tool whose schema is none",
      input("r", { tools: [{ ...PAGE, parameters: { type: "x" } }] }),
      "invalid_request",
      400,
    ],
    [
      "an interrupt it never had",
      input("r", { resume: [{ interruptId: "x", status: "resolved" }] }),
      "unknown_call",
      404,
    ],
  ])("%s", async (_, body, code, status) => {
    await using stage = await openStage();
    const before = await stage.state();
    const problem = await problemOf(await post(stage, body));
    expect(problem).toMatchObject({ status, type: "application/problem+json", body: { code } });
    expect(await stage.state()).toEqual(before);
  });

  it("what is unknown is ignored", async () => {
    await using stage = await openStage();
    const odd = { ...input("r"), colour: "red", messages: [{ ...user("u", "hi"), mood: "good" }] };
    const response = await post(stage, odd);
    await saying(stage);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("RUN_FINISHED");
  });

  it("who may not", async () => {
    await using stage = await openStage();
    const none = await post(stage, input("r"), { authorization: "" });
    expect((await problemOf(none)).body).toMatchObject({ code: "unauthenticated", status: 401 });
    for (const verbs of [["read"], ["send"], ["read", "send"]] as const) {
      const token = await stage.grant([{ sessions: "s1", verbs }]);
      const body = input("r", { tools: [PAGE] });
      const response = await post(stage, body, { authorization: `Bearer ${token}` });
      expect((await problemOf(response)).body).toMatchObject({ code: "forbidden", status: 403 });
    }
    const elsewhere = await post(stage, input("r"), { origin: "https://elsewhere.example" });
    expect(elsewhere.status).toBe(403);
  });

  it("a call of a tool that is somebody else's to answer", async () => {
    await using stage = await openStage();
    const first = post(stage, input("r1", { tools: [PAGE] }));
    const attempt = await stage.attempt();
    await attempt.append(...round(...call("c1", "page", "{}")));
    await attempt.finish();
    await (await first).text();
    const other = await stage.grant([{ sessions: "*", verbs: ["read", "answer:other"] }]);
    const body = { threadId: "s1", runId: "r2", messages: [result("c1", "here")] };
    const refused = await post(stage, body, { authorization: `Bearer ${other}` });
    expect((await problemOf(refused)).body).toMatchObject({ code: "forbidden" });
    // Whoever may answer it needs no right to speak.
    const token = await stage.grant([{ sessions: "*", verbs: ["read", "data", "answer:page"] }]);
    const taken = post(stage, body, { authorization: `Bearer ${token}` });
    await saying(stage);
    expect(await (await taken).text()).toContain(`"runId":"r2"`);
  });

  it("one refusal in the middle leaves no half behind", async () => {
    await using stage = await openStage();
    await stage.command({ type: "policy.set", policy: { whileActive: "refuse" } });
    const first = post(stage, input("r1"));
    const attempt = await stage.attempt();
    const before = await stage.state();
    const refused = await post(stage, input("r2", { tools: [PAGE] }));
    expect((await problemOf(refused)).body).toMatchObject({ code: "run_active" });
    expect(await stage.state()).toEqual(before);
    await attempt.finish();
    await (await first).text();
  });
});

describe("12.1 ids of runs", () => {
  it("the same input again attaches, also once it is over", async () => {
    await using stage = await openStage();
    const first = post(stage, input("r1"));
    const attempt = await stage.attempt();
    await attempt.append({ type: "round.open" }, ...text("a1", "Half").slice(0, 2));
    const second = await post(stage, input("r1"));
    expect(second.status).toBe(200);
    await attempt.append(
      { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: " and half." },
      { type: "TEXT_MESSAGE_END", messageId: "a1" },
    );
    await attempt.finish();
    const third = await post(stage, input("r1"));
    for (const response of [await first, second, third]) {
      const told = eventsIn(await response.text());
      expect(told.at(0)?.data).toMatchObject({ type: "RUN_STARTED", runId: "r1" });
      expect(told.at(-1)?.data).toMatchObject({ type: "RUN_FINISHED", runId: "r1" });
      expect(JSON.stringify(told)).toMatch(/and half\./);
    }
    expect((await stage.state()).messages).toHaveLength(1);
  });

  it("another input under a used id is refused", async () => {
    await using stage = await openStage();
    const first = post(stage, input("r1"));
    const { runId } = await saying(stage);
    await (await first).text();
    for (const id of ["r1", `${runId}:1`]) {
      const response = await post(stage, input(id, { messages: [user("other", "hi")] }));
      expect((await problemOf(response)).body).toMatchObject({ code: "key_reused", status: 409 });
    }
  });

  it("after a restart they are known as before", async () => {
    await using storage = memoryStorage();
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const dev = { storage, secret, dev: true };
    {
      await using stage = await openStage(dev);
      const first = post(stage, input("r1"));
      await saying(stage);
      await (await first).text();
    }
    await using stage = await openStage(dev);
    const again = await post(stage, input("r1"));
    expect(eventsIn(await again.text()).at(-1)?.data).toMatchObject({ runId: "r1" });
    const other = await post(stage, input("r1", { messages: [] }));
    expect((await problemOf(other)).body).toMatchObject({ code: "key_reused" });
  });
});

describe("12.4.2 a request that waits", () => {
  it("is held behind the run before it, and told of its own alone", async () => {
    await using stage = await openStage();
    const first = post(stage, input("r1"));
    const attempt = await stage.attempt();
    const second = await post(stage, input("r2"));
    await attempt.append(...round(...text("a1", "First.")));
    await attempt.finish();
    await saying(stage, "Second.");
    expect(eventsIn(await (await first).text()).at(-1)?.data).toMatchObject({ runId: "r1" });
    const told = eventsIn(await second.text());
    expect(told.at(0)?.data).toMatchObject({ type: "RUN_STARTED", runId: "r2" });
    // What came meanwhile is in what it begins with.
    expect(JSON.stringify(told)).toContain("First.");
    expect(told.filter(({ data }) => data.type === "RUN_STARTED")).toHaveLength(1);
  });

  it("lives by comments", async () => {
    await using stage = await openStage({ sseHeartbeatMs: 5 });
    const response = await post(stage, input("r1"));
    let comments = 0;
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      expect(chunk).toMatch(/^(: alive\n\n)+$/);
      comments += chunk.length / ": alive\n\n".length;
      if (comments >= 4) break;
    }
  });

  it.each(["1.0", undefined])(
    "is told honestly that it was cancelled (%s)",
    async (protocolVersion) => {
      await using stage = await openStage();
      const version = protocolVersion && { protocolVersion };
      const response = await post(stage, input("r1", version || {}));
      const stop = await stage.ask("POST", "/v1/sessions/s1/ag-ui/stop", {});
      expect(stop.body.stopped).toHaveLength(1);
      const [started, finished] = eventsIn(await response.text());
      expect(started?.data).toMatchObject({ type: "RUN_STARTED", runId: "r1" });
      expect(finished?.data).toMatchObject(
        version
          ? { type: "RUN_FINISHED", runId: "r1", outcome: { type: "cancelled" } }
          : { type: "RUN_ERROR", code: "cancelled" },
      );
    },
  );

  it("ends with what its agent made of it", async () => {
    await using stage = await openStage();
    const response = await post(stage, input("r1"));
    await (await stage.attempt()).fail("no_model");
    const told = eventsIn(await response.text());
    expect(told.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "no_model" });
  });

  it("goes on with an attempt that another took over, under the same id", async () => {
    await using stage = await openStage();
    const response = await post(stage, input("r1"));
    const first = await stage.attempt();
    await first.append({ type: "round.open" }, ...text("a1", "Half").slice(0, 2));
    await first.release();
    await saying(stage, "Whole.");
    const told = eventsIn(await response.text()).map(({ data }) => data);
    expect(told.filter(({ type }) => type === "RUN_STARTED")).toHaveLength(1);
    expect(told.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r1" });
    const snapshot = told.findLast(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(JSON.stringify(snapshot)).not.toContain("Half");
  });

  it("goes on with what follows by itself, as another run", async () => {
    await using stage = await openStage();
    const response = await post(stage, input("r1", { tools: [PAGE] }));
    const attempt = await stage.attempt();
    await attempt.append({ type: "round.open" }, ...call("c1", "page", "{}"));
    await stage.command({
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: {
        type: "text",
        text: "early",
      },
    });
    await attempt.append({ type: "round.close" });
    await attempt.finish();
    await saying(stage, "Early.");
    const told = eventsIn(await response.text()).map(({ data }) => data);
    expect(told.filter(({ type }) => String(type).startsWith("RUN_"))).toMatchObject([
      { type: "RUN_STARTED", runId: "r1" },
      { type: "RUN_FINISHED", runId: "r1" },
      { type: "RUN_STARTED", runId: `${attempt.runId}:2` },
      { type: "RUN_FINISHED", runId: `${attempt.runId}:2` },
    ]);
  });

  it("a client that goes away ends nothing", async () => {
    await using stage = await openStage();
    const cut = new AbortController();
    const agent = stage.client();
    agent.messages = [user("u1", "go")];
    const first = running(agent, { runId: "r1", abortController: cut } as never);
    const attempt = await stage.attempt();
    await attempt.append({ type: "round.open" }, ...text("a1", "x").slice(0, 1));
    await first.until("TEXT_MESSAGE_START");
    cut.abort();
    await first.ended;
    await attempt.append({ type: "TEXT_MESSAGE_END", messageId: "a1" });
    await attempt.finish();
    expect((await stage.state()).runs).toMatchObject([{ status: "ended", outcome: "complete" }]);
  });

  it("a server that stops says that the stream broke off, not that the run ended", async () => {
    const stage = await openStage();
    const response = await post(stage, input("r1"));
    await stage[Symbol.asyncDispose]();
    expect(eventsIn(await response.text()).map(({ data }) => data)).toMatchObject([
      { type: "RUN_ERROR", code: "closed" },
    ]);
  });
});

describe("12.4.5 protobuf", () => {
  it.each([
    ["*/*", "text/event-stream"],
    ["application/*", "text/event-stream"],
    [`${AGUI_MEDIA_TYPE};q=0`, "text/event-stream"],
    [`text/event-stream, ${AGUI_MEDIA_TYPE};q=0.5`, AGUI_MEDIA_TYPE],
    [AGUI_MEDIA_TYPE, AGUI_MEDIA_TYPE],
  ])("for who accepts %s: %s", async (accept, type) => {
    await using stage = await openStage();
    const response = await post(stage, input("r1"), { accept });
    expect(response.headers.get("content-type")).toBe(type);
    await saying(stage);
    await response.arrayBuffer();
  });

  it("is read by the stock client", async () => {
    await using stage = await openStage();
    const agent = stage.client();
    agent.fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...agent.headers, accept: AGUI_MEDIA_TYPE } });
    agent.messages = [user("u1", "hi")];
    const first = running(agent, { runId: "r1" });
    await saying(stage, "Hello.");
    expect((await first.ended).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(agent.messages.at(-1)).toMatchObject({ content: "Hello." });
  });
});

describe("12.4.1 threads of an agent", () => {
  it("are made by the first message", async () => {
    await using stage = await openStage();
    const agent = stage.client({ thread: "t 1/ü" });
    agent.messages = [user("u1", "hi")];
    const first = running(agent, { runId: "r1" });
    await saying(stage);
    expect((await first.ended).at(-1)).toMatchObject({ threadId: "t 1/ü", type: "RUN_FINISHED" });
    const { body } = await stage.ask("GET", `/v1/sessions/${encodeURIComponent("t 1/ü")}`);
    expect(body).toMatchObject({ agent: "demo", owner: "user:ana" });
  });

  it.each([
    ["nothing is said", { messages: [] }, 400],
    ["no thread is named", { threadId: undefined }, 400],
    ["its id has control characters", { threadId: "a\nb" }, 400],
    ["its id is no address", { threadId: ".." }, 400],
    ["its id is the address of all", { threadId: "." }, 400],
  ])("are not where %s", async (_, more, status) => {
    await using stage = await openStage();
    const body = { ...input("r"), threadId: "new", ...more };
    const response = await post(stage, body, {}, "/v1/agents/demo/ag-ui");
    expect(response.status).toBe(status);
    expect((await stage.ask("GET", "/v1/sessions")).body.sessions).toHaveLength(1);
  });

  it("of another agent are unknown, and so are those that nobody made", async () => {
    await using stage = await openStage();
    const body = { ...input("r"), threadId: "s1" };
    const paths = ["/v1/agents/other/ag-ui", "/v1/agents/other/ag-ui/connect"];
    for (const path of [...paths, "/v1/agents/other/ag-ui/stop"]) {
      const response = await post(stage, body, {}, path);
      expect((await problemOf(response)).body).toMatchObject({ code: "unknown_session" });
    }
    for (const verb of ["connect", "stop"]) {
      const named = { ...body, threadId: "new" };
      const response = await post(stage, named, {}, `/v1/agents/demo/ag-ui/${verb}`);
      expect(response.status).toBe(404);
    }
  });

  it("are made by nobody who may not send", async () => {
    await using stage = await openStage();
    const token = await stage.grant([{ sessions: "*", verbs: ["read", "answer:*"] }]);
    const body = { ...input("r"), threadId: "new" };
    const headers = { authorization: `Bearer ${token}` };
    const response = await post(stage, body, headers, "/v1/agents/demo/ag-ui");
    expect((await problemOf(response)).body).toMatchObject({ code: "forbidden" });
  });
});
