import { HttpAgent } from "@ag-ui/client";
import { describe, expect, it, vi } from "vitest";
import { openStage, PAGE, post, result, running, user } from "../faces/ag-ui/stage.ts";
import { until } from "../support/clock.ts";
import { call, endpoint, result as answered, text } from "./endpoint.ts";

const DECLINED = { metadata: { holdfast: { declined: true } } };

describe("12.5 an AG-UI agent behind Holdfast, and stock clients before it", () => {
  it("parallel frontend tools are answered by two clients, each of one; both see how it goes on, and the agent is asked once", async () => {
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...call("c1", PAGE.name, '{"n":1}'), ...call("c2", PAGE.name, '{"n":2}'))
          .finish(),
      (asked) => asked.start(...text("t", "Both.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const ana = stage.client();
    ana.messages = [user("u1", "Hi")];
    await running(ana, { tools: [PAGE] }).ended;
    const bo = stage.client({ who: "user:bo" });
    await bo.connectAgent();
    expect(bo.messages).toEqual(ana.messages);
    ana.messages.push(result("c1", "from Ana"));
    bo.messages.push(result("c2", "from Bo"));
    const first = running(ana, { tools: [PAGE] });
    await until("Ana's answer", async () => {
      return (await stage.state()).calls.some(({ id, outcome }) => id === "c1" && outcome === "ok");
    });
    expect(agent.asked).toHaveLength(1);
    const second = running(bo, { tools: [PAGE] });
    for (const seen of [await first.ended, await second.ended]) {
      expect(seen.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    }
    const told = (it: HttpAgent) => it.messages.map(({ role, content }) => [role, content]);
    expect(told(ana).at(-1)).toEqual(["assistant", "Both."]);
    expect(new Set(told(ana).map(String))).toEqual(new Set(told(bo).map(String)));
    expect(agent.asked).toHaveLength(2);
    const results = agent.asked[1]?.input.messages.filter(({ role }) => role === "tool");
    expect(results).toMatchObject([
      { toolCallId: "c1", content: "from Ana" },
      { toolCallId: "c2", content: "from Bo" },
    ]);
    expect(agent.asked[1]?.input.tools).toHaveLength(1);
  });

  it("what a client declines, and what failed there, the agent hears in the words and with an error, and only declining is a denial", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", PAGE.name), ...call("c2", PAGE.name, "[]")).finish(),
      (asked) => asked.start(...text("t", "Then not.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [user("u1", "Hi")];
    const tools = [{ ...PAGE, parameters: {} }];
    await running(client, { tools }).ended;
    client.messages.push(
      result("c1", "I would rather not.", { error: "declined", ...DECLINED }),
      result("c2", "", { error: "It broke." }),
    );
    await running(client, { tools }).ended;
    expect(client.messages.at(-1)).toMatchObject({ content: "Then not." });
    expect(agent.asked[1]?.input.messages.filter(({ role }) => role === "tool")).toEqual([
      {
        id: "t-c1",
        role: "tool",
        toolCallId: "c1",
        content: "I would rather not.",
        error: "declined",
      },
      { id: "t-c2", role: "tool", toolCallId: "c2", content: "It broke.", error: "It broke." },
    ]);
    const ends = (await stage.state()).calls.map(({ outcome, reason }) => [outcome, reason]);
    expect(ends).toEqual([
      ["error", "declined"],
      ["error", undefined],
    ]);
  });

  it("where a resumed run failed, its client says the same again beside a message: what was approved is not executed by that", async () => {
    const asks = [
      { id: "i1", reason: "ask" },
      { id: "i2", reason: "tool_call", toolCallId: "c1" },
    ];
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...call("c1", "pay"))
          .finish({ outcome: { type: "interrupt", interrupts: asks } }),
      (asked) => asked.start().send({ type: "RUN_ERROR", message: "No." }).end(),
      (asked) => asked.start(...text("t", "Fine.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [user("u1", "Hi")];
    await running(client).ended;
    const resume = (colour: string) => [
      { interruptId: "i1", status: "resolved" as const, payload: { colour } },
      { interruptId: "i2", status: "resolved" as const, payload: { approved: true } },
    ];
    const failed = await running(client, { resume: resume("red") }).ended;
    expect(failed.at(-1)).toMatchObject({ type: "RUN_ERROR", message: "No." });
    expect(client.pendingInterrupts).toHaveLength(2);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const again = (colour: string) => running(client, { resume: resume(colour) }).ended;
    await expect(again("red")).rejects.toThrow("run_ended");
    client.messages.push(user("u2", "Again?"));
    await expect(again("blue")).rejects.toThrow("already_answered");
    vi.restoreAllMocks();
    expect((await again("red")).at(-1)).toMatchObject({ outcome: { type: "success" } });
    expect(client.pendingInterrupts).toEqual([]);
    expect(agent.asked).toHaveLength(3);
    expect(agent.asked[2]?.input.resume).toEqual([
      { interruptId: "i1", status: "resolved", payload: { colour: "red" } },
      { interruptId: "i2", status: "cancelled" },
    ]);
  });

  it("a cancel in the middle of arguments closes the agent's connection; its viewers see a run that was cancelled, and a call that was not executed", async () => {
    const [start = {}, args = {}] = call("c1", "pay", '{"n":');
    await using agent = await endpoint(
      (asked) => void asked.start(...text("t", "So."), start, args),
      (asked) => asked.start(...text("u", "Again.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [user("u1", "Hi")];
    const seen = running(client);
    await seen.until("TOOL_CALL_ARGS");
    expect((await post(stage, {}, {}, "/v1/sessions/s1/ag-ui/stop")).status).toBe(200);
    const events = await seen.ended;
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
    expect(seen.types()).toContain("TOOL_CALL_END");
    await agent.asked[0]?.closed;
    client.messages.push(user("u2", "And now?"));
    await running(client).ended;
    expect(client.messages.at(-1)).toMatchObject({ content: "Again." });
    const told = agent.asked[1]?.input.messages.find(({ role }) => role === "tool");
    expect(told).toMatchObject({ toolCallId: "c1", error: expect.stringContaining("ot executed") });
  });

  it("a client that lists a tool no more does not take it from the agent's thread: another still answers it", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...text("t1", "One.")).finish(),
      (asked) => asked.start(...call("c1", PAGE.name)).finish(),
      (asked) => asked.start(...text("t2", "Two.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const page = stage.client();
    page.messages = [user("u1", "Hi")];
    await running(page, { tools: [PAGE] }).ended;
    // A plain reader, without that page.
    const plain = stage.client({ who: "user:bo" });
    await plain.connectAgent();
    plain.messages.push(user("u2", "Ask the page."));
    const asked = await running(plain).ended;
    expect(asked.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ["c1"] } });
    expect(agent.asked[1]?.input.tools.map(({ name }) => name)).toEqual([PAGE.name]);
    await page.connectAgent();
    page.messages.push(result("c1", "It is open."));
    await running(page, { tools: [PAGE] }).ended;
    expect(page.messages.at(-1)).toMatchObject({ content: "Two." });
  });

  it("what AG-UI does not describe is in the log as it came; the client is sent what it knows, and finds nothing to strip", async () => {
    const unheard = { type: "UNHEARD_OF", anything: [null] };
    const [said = {}] = text("t", "So.");
    const parts = [
      { type: "text", text: "see" },
      { type: "hologram", beam: 1 },
      { type: "image", source: { type: "url", value: "u", beam: 2 } },
    ];
    const deep = { ...answered("c1", ""), content: parts };
    await using agent = await endpoint((asked) =>
      asked
        .start(
          unheard,
          { ...said, mood: "good" },
          ...text("t", "So.").slice(1),
          ...call("c1", "draw"),
          deep,
        )
        .finish({ outcome: { type: "success", mood: "good" } }),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const client = stage.client();
    client.messages = [user("u1", "Hi")];
    const events = await running(client).ended;
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(warned.mock.calls).toEqual([]);
    warned.mockRestore();
    expect(JSON.stringify(events)).not.toContain('"mood":"good","type":"TEXT');
    const raws = events.filter(({ type }) => type === "RAW").map(({ event }) => event);
    expect(raws).toContainEqual(unheard);
    expect(raws).toContainEqual(deep);
    const told = client.messages.find(({ role }) => role === "tool");
    expect(told?.content).toEqual([
      { type: "text", text: "see" },
      { type: "image", source: { type: "url", value: "u" } },
    ]);
    const { body } = await stage.ask("GET", "/v1/sessions/s1/entries");
    const kept = JSON.stringify(body);
    for (const word of ['"mood":"good"', '"hologram"', '"beam":2', "UNHEARD_OF"]) {
      expect(kept).toContain(word);
    }
    const [run] = (await stage.state()).runs;
    const rules = JSON.stringify(run?.metadata);
    for (const rule of ["E2", "E3", "E4"]) expect(rules).toContain(`"rule":"${rule}"`);
  });
});
