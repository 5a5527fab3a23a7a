import type { AgentItem } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import {
  call,
  Client,
  eventsIn,
  openStage,
  PAGE,
  post,
  result,
  round,
  running,
  text,
  user,
  type Attempt,
  type ReadEvent,
  type Stage,
} from "./stage.ts";

const LOOK = { name: "look" } as const;

/** What an agent does in two activations of a run, one thing at a time. */
const FIRST: readonly AgentItem[] = [
  { type: "round.open" },
  { type: "STATE_SNAPSHOT", snapshot: { step: 1 } },
  { type: "STEP_STARTED", stepName: "think" },
  { type: "REASONING_MESSAGE_START", messageId: "r1", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "r1", delta: "hm" },
  ...text("a1", "Let ", "me look."),
  { type: "REASONING_MESSAGE_END", messageId: "r1" },
  { type: "STEP_FINISHED", stepName: "think" },
  ...call("c1", "look", '{"at":', '"it"}'),
  { type: "STATE_DELTA", delta: [{ op: "replace", path: "/step", value: 2 }] },
  { type: "call.answer", callId: "c1", outcome: "ok", answer: { type: "json", value: [1] } },
  { type: "round.close" },
  { type: "round.open" },
  ...call("c2", "page", "{", "}"),
  { type: "round.close" },
];
const SECOND: readonly AgentItem[] = round(...text("a2", "It ", "is."));

/** Does it all, `at` each moment; what somebody who saw all of it holds. */
async function play(stage: Stage, at: (moment: number) => Promise<void>) {
  const agent = stage.client();
  agent.messages = [user("u1", "look")];
  let moment = 0;
  const act = async (attempt: Attempt, items: readonly AgentItem[]) => {
    for (const item of items) {
      await at((moment += 1));
      await attempt.append(item);
    }
    await at((moment += 1));
    await attempt.finish();
  };
  await at(moment);
  const first = running(agent, { runId: "r1", tools: [PAGE] });
  await act(await stage.attempt([LOOK]), FIRST);
  await first.ended;
  await at((moment += 1));
  agent.addMessage(result("c2", "here"));
  const second = running(agent, { runId: "r2" });
  await act(await stage.attempt([LOOK]), SECOND);
  await second.ended;
  await at((moment += 1));
  return agent;
}

const MOMENTS = 1 + FIRST.length + 1 + 1 + SECOND.length + 1 + 1;

const held = ({ messages, state }: Pick<Client, "messages" | "state">) => ({
  // A stock client puts its own answer at the end, and a session behind the call.
  messages: Object.fromEntries(messages.map((message) => [message.id, message])),
  state: state as unknown,
});

describe("12.4.3 whoever joins", () => {
  it.each(Array.from({ length: MOMENTS }, (_, n) => n))(
    "at moment %i holds in the end what an undisturbed client does",
    async (when) => {
      await using stage = await openStage();
      const late = stage.client({ who: "user:bo" });
      let joined: ReturnType<typeof running> | undefined;
      const watcher = await play(stage, async (moment) => {
        if (moment !== when) return;
        joined = running({ runAgent: late.connectAgent.bind(late) });
        // Its place in the log is taken before anything else is said.
        if (moment > 0) await joined.until("RUN_STARTED");
      });
      await joined?.ended;
      // Between two runs it was told how the first one ended, and comes again for the second.
      const again = running({ runAgent: late.connectAgent.bind(late) });
      await again.ended;
      const own = held(late);
      const other = held(watcher);
      expect(own.state).toEqual(other.state);
      expect(own.messages).toEqual(other.messages);
      expect(again.last()).toMatchObject({ type: "RUN_FINISHED", runId: "r2" });
    },
  );

  it("waits for a run that is about to begin, behind what is over and alone", async () => {
    await using stage = await openStage();
    for (const messageId of ["u1", "u2"]) {
      await stage.command({ type: "message.send", messageId, content: "hi" });
      const joined = post(stage, {}, {}, "/v1/sessions/s1/ag-ui/connect");
      expect((await joined).status).toBe(200);
      const attempt = await stage.attempt();
      await attempt.append(...round(...text(`a-${messageId}`, "Hello.")));
      await attempt.finish();
      const told = eventsIn(await (await joined).text());
      expect(told.at(-1)?.data).toMatchObject({ runId: `${attempt.runId}:1` });
      expect(JSON.stringify(told)).toContain(`a-${messageId}`);
    }
  });

  it("an empty thread is told that there is nothing", async () => {
    await using stage = await openStage();
    const agent = stage.client();
    await agent.connectAgent();
    expect(agent.messages).toEqual([]);
  });

  it("a thread whose only run was cancelled before it began is told what was said", async () => {
    await using stage = await openStage();
    await stage.command({ type: "message.send", messageId: "u1", content: "hi" });
    await stage.ask("POST", "/v1/sessions/s1/ag-ui/stop");
    const agent = stage.client();
    const joined = running({ runAgent: agent.connectAgent.bind(agent) });
    expect((await joined.ended).at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(agent.messages).toMatchObject([{ id: "u1", content: "hi" }]);
  });

  it("puts right what it holds, and keeps what is its own", async () => {
    await using stage = await openStage();
    const own = { id: "s", role: "system" as const, content: "Be brief." };
    for (const messageId of ["u1", "u2"]) {
      await stage.command({ type: "message.send", messageId, content: messageId });
      const attempt = await stage.attempt([LOOK]);
      const answer = { type: "text", text: "Seen." } as const;
      await attempt.append(...round(...call(`c-${messageId}`, "look", "{}")), {
        type: "call.answer",
        callId: `c-${messageId}`,
        outcome: "ok",
        answer,
        messageId: `t-${messageId}`,
      });
      await attempt.finish();
    }
    const fresh = stage.client();
    await fresh.connectAgent();
    const [u1, m1, t1, ...others] = fresh.messages;
    if (!u1 || !m1 || !t1) throw new Error("It holds too little.");
    const late = stage.client();
    // A result that came late, something forged, a state that is nobody's.
    late.messages = [own, u1, m1, { ...m1, id: "forged" }, t1];
    late.state = { old: true };
    await late.connectAgent();
    expect(late.messages).toEqual([own, u1, m1, t1, ...others]);
    expect(late.state).toEqual({});
  });

  it("is refused where what it holds is malformed", async () => {
    await using stage = await openStage();
    const body = { messages: [{ id: "x", role: "user" }] };
    const response = await post(stage, body, {}, "/v1/sessions/s1/ag-ui/connect");
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "invalid_request" },
    ]);
  });

  it("is told of what waits for a person", async () => {
    await using stage = await openStage();
    await stage.command({ type: "message.send", messageId: "u1", content: "hi" });
    const attempt = await stage.attempt([{ name: "pay", approval: "always" }]);
    await attempt.append(...round(...call("c1", "pay", "{}")));
    await attempt.finish();
    const agent = stage.client();
    await agent.connectAgent();
    expect(agent.pendingInterrupts).toMatchObject([{ toolCallId: "c1" }]);
  });
});

/** A stream's events as they come. */
async function reading(response: Response) {
  const read = { text: "", ended: Promise.resolve([] as ReadEvent[]) };
  read.ended = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      read.text += chunk;
    return eventsIn(read.text);
  })();
  return read;
}

describe("12.4.4 Last-Event-ID", () => {
  const INPUT = { threadId: "s1", runId: "r1", messages: [user("u1", "look")], tools: [PAGE] };

  /** One run with everything in it, up to before its end, as its poster reads it. */
  async function midway(stage: Stage) {
    const response = await post(stage, INPUT);
    const attempt = await stage.attempt([LOOK]);
    for (const item of FIRST.slice(0, -1)) await attempt.append(item);
    const whole = await reading(response);
    return { attempt, whole };
  }

  it.each([
    ["the same request", "/v1/sessions/s1/ag-ui", INPUT],
    ["connect", "/v1/sessions/s1/ag-ui/connect", { runId: "r1" }],
    ["connect, of an agent", "/v1/agents/demo/ag-ui/connect", { threadId: "s1", runId: "r1" }],
  ])("goes on behind any event: %s", async (_, path, body) => {
    await using stage = await openStage();
    const { attempt, whole } = await midway(stage);
    await expect.poll(() => whole.text).toContain('"toolCallId":"c2","delta":"}"');
    const seen = eventsIn(whole.text);
    const resumed = await Promise.all(
      seen.map(({ id = "" }) => post(stage, body, { "last-event-id": id }, path)),
    );
    await attempt.append({ type: "round.close" });
    await attempt.finish();
    const all = await whole.ended;
    // What its run began with depends on what its reader held: behind that, one joins anew.
    const statuses = resumed.map(({ status }) => status);
    const from = statuses.indexOf(200);
    expect(seen.slice(0, from).map(({ data }) => data.type)).toEqual(["RUN_STARTED"]);
    expect(new Set(statuses.slice(from))).toEqual(new Set([200]));
    for (const [at, response] of resumed.entries()) {
      if (at < from) continue;
      expect(eventsIn(await response.text())).toEqual(all.slice(at + 1));
    }
    expect(all.every(({ id }) => id !== undefined)).toBe(true);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  it("a prelude is a place to go on from at its end alone", async () => {
    await using stage = await openStage();
    const { attempt } = await midway(stage);
    const path = "/v1/sessions/s1/ag-ui/connect";
    const joined = await reading(await post(stage, {}, {}, path));
    await expect.poll(() => eventsIn(joined.text || "\n\n").length).toBeGreaterThan(2);
    const prelude = eventsIn(joined.text);
    expect(prelude.slice(0, -1).every(({ id }) => id === undefined)).toBe(true);
    const { id = "" } = prelude.at(-1) ?? {};
    const resumed = await post(stage, {}, { "last-event-id": id }, path);
    await attempt.append({ type: "round.close" });
    await attempt.finish();
    expect(eventsIn(await resumed.text())).toEqual((await joined.ended).slice(prelude.length));
  });

  it.each([
    ["of another log", (id: string) => id.replace(/^[^.]+/, "zz"), 409, "reset"],
    ["that was never given", () => "nonsense", 400, "invalid_offset"],
    ["seen with other eyes", (id: string) => `${id}~abc`, 409, "reset"],
    ["ahead of it", (id: string) => id.replace(/\.\d+/, ".99999999999"), 409, "reset"],
  ])("an id %s", async (_, change, status, code) => {
    await using stage = await openStage();
    const { whole } = await midway(stage);
    await expect.poll(() => whole.text).toContain('"toolCallId":"c2","delta":"}"');
    const { id = "" } = eventsIn(whole.text).at(-1) ?? {};
    const headers = { "last-event-id": change(id) };
    const response = await post(stage, {}, headers, "/v1/sessions/s1/ag-ui/connect");
    expect([response.status, await response.json()]).toMatchObject([status, { code }]);
  });

  it("with an input that began nothing yet is refused, and begins nothing", async () => {
    await using stage = await openStage();
    const { whole } = await midway(stage);
    await expect.poll(() => whole.text).toContain('"toolCallId":"c2","delta":"}"');
    const { id = "" } = eventsIn(whole.text).at(-1) ?? {};
    const before = await stage.state();
    const other = { ...INPUT, runId: "r9", messages: [user("u9", "new")] };
    const response = await post(stage, other, { "last-event-id": id });
    expect([response.status, await response.json()]).toMatchObject([409, { code: "reset" }]);
    expect(await stage.state()).toEqual(before);
  });

  /** Every place in what its poster was told, asked for again once the run is over. */
  async function expectRest(stage: Stage, all: ReadEvent[]) {
    for (const [at, { id = "" }] of all.entries()) {
      const response = await post(stage, INPUT, { "last-event-id": id });
      expect(response.status).toBe(at === 0 ? 409 : 200);
      if (at > 0) expect(eventsIn(await response.text())).toEqual(all.slice(at + 1));
    }
  }

  it("the same request goes on behind any event of a run that waits for others meanwhile", async () => {
    await using stage = await openStage();
    const { attempt, whole } = await midway(stage);
    await attempt.append({ type: "round.close" });
    await attempt.finish();
    const all = await whole.ended;
    expect(all.at(-1)?.data).toMatchObject({ type: "RUN_FINISHED" });
    await expectRest(stage, all);
  });

  it.each([
    ["finished", (attempt: Attempt) => attempt.finish()],
    ["failed", (attempt: Attempt) => attempt.fail("broken")],
  ])("the same request goes on behind any event of a run that %s meanwhile", async (_, end) => {
    await using stage = await openStage();
    const response = await post(stage, INPUT);
    const attempt = await stage.attempt([LOOK]);
    await attempt.append(...round(...text("a1", "All", " of it.")));
    await end(attempt);
    await expectRest(stage, eventsIn(await response.text()));
  });

  it("an id of a run that is over begins anew", async () => {
    await using stage = await openStage();
    const { attempt, whole } = await midway(stage);
    await attempt.append({ type: "round.close" });
    await attempt.finish();
    const { id = "" } = (await whole.ended).at(-3) ?? {};
    const path = "/v1/sessions/s1/ag-ui/connect";
    const response = await post(stage, {}, { "last-event-id": id }, path);
    expect([response.status, await response.json()]).toMatchObject([409, { code: "reset" }]);
  });
});
