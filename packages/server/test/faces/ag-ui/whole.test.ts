import type { Peer } from "@holdfast/protocol/ag-ui";
import { afterEach, expect, it, vi } from "vitest";
import { call, endpoint, result, text } from "../../upstream/endpoint.ts";
import { asOf } from "./readers.ts";
import { eventsIn, openStage, PAGE, post, running, user } from "./stage.ts";

afterEach(() => void vi.restoreAllMocks());

const INPUT = {
  threadId: "s1",
  runId: "r1",
  protocolVersion: "1.0",
  parentRunId: "p1",
  state: { cart: ["tea"] },
  context: [{ description: "Where the user is", value: "Bern" }],
  forwardedProps: { theme: "dark" },
  tools: [],
  messages: [
    { id: "s", role: "system" as const, content: "Be brief." },
    { id: "d", role: "developer" as const, content: "Be kind." },
    user("u1", "Hi"),
  ],
};

it.each<Peer>(["1.0", "0"])(
  "12.1.4 what a client says to the agent reaches it as it was sent: %s",
  async (peer) => {
    await using agent = await endpoint((asked) => asked.start(...text("t1", "Hello.")).finish());
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const response = await post(stage, asOf(peer, INPUT));
    const told = eventsIn(await response.text()).map(({ data }) => data);
    expect(told.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r1" });
    expect(agent.asked.map(({ input }) => input)).toEqual([INPUT]);
    // Nobody else reads it.
    const joined = await post(stage, {}, {}, "/v1/sessions/s1/ag-ui/connect");
    expect(await joined.text()).not.toMatch(/Be brief|Be kind|Bern|dark/);
  },
);

it("12.2.2 a tool that a client lists no more is still there for whoever executes it", async () => {
  await using agent = await endpoint((asked) =>
    asked.start(...text(`t-${asked.input.runId}`, "Hello.")).finish(),
  );
  await using stage = await openStage({ agents: { demo: { url: agent.url } } });
  const [page, other] = [stage.client(), stage.client({ who: "user:bo" })];
  page.messages = [user("u1", "Hi")];
  await running(page, { tools: [PAGE] }).ended;
  other.messages = [user("u2", "And I")];
  await running(other, { tools: [{ ...PAGE, name: "other" }] }).ended;
  page.addMessage(user("u3", "Bye"));
  await running(page).ended;
  const tools = agent.asked.map(({ input }) => input.tools.map(({ name }) => name));
  expect(tools).toEqual([["page"], ["page", "other"], ["page", "other"]]);
});

it("12.3.2 what AG-UI does not know is kept, with a warning, and a client finds nothing to strip", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const strange = { type: "FUTURE_EVENT", x: 1 };
  const [start, ...rest] = text("t1", "Hello.");
  const nested = {
    type: "ACTIVITY_DELTA",
    messageId: "a",
    activityType: "plan",
    patch: [],
    odd: 1,
  };
  await using agent = await endpoint((asked) =>
    asked
      .start({ ...start, shade: "blue" }, ...rest, strange, nested, ...call("c1", "look"))
      .finish({ usage: [{ inputTokens: 3, odd: 1 }], result: { odd: 1 } }),
  );
  await using stage = await openStage({ agents: { demo: { url: agent.url } } });
  const client = stage.client();
  client.messages = [user("u1", "Hi")];
  const events = await running(client, { runId: "r1" }).ended;
  expect(warn).not.toHaveBeenCalled();
  const told = JSON.stringify(events);
  expect(told).not.toContain("shade");
  expect(events).toContainEqual({ type: "RAW", source: "ag-ui", event: strange });
  const { usage, result }: Record<string, unknown> = events.at(-1) ?? {};
  // A result is any JSON; usage is not.
  expect({ usage, result }).toEqual({ usage: [{ inputTokens: 3 }], result: { odd: 1 } });

  const { body: log } = await stage.ask("GET", "/v1/sessions/s1/entries");
  expect(JSON.stringify(log)).toContain('"shade":"blue"');
  const { runs } = await stage.state();
  const metadata = runs[0]?.metadata as Record<string, Record<string, unknown>>;
  const rules = ["E3", "E2", "E3", "D11", "E3"].map((rule) => ({ rule }));
  expect(metadata["ag-ui"]?.["1"]).toMatchObject({ diagnostics: rules });
});

it.each([true, false])(
  "12.5.8 a call that its agent asks about twice is decided twice, the second time with %s",
  async (approved) => {
    const asks = (id: string) => {
      const interrupt = { id, reason: "tool_call", toolCallId: "c1", message: `${id}?` };
      return { outcome: { type: "interrupt", interrupts: [interrupt] } };
    };
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "pay")).finish(asks("i1")),
      (asked) => asked.start(...text("t1", "One more.")).finish(asks("i2")),
      (asked) =>
        asked.start(...(approved ? [result("c1", "paid")] : []), ...text("t2", "Done.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [user("u1", "Hi")];
    await running(client).ended;
    const payloads = [
      { approved: true, by: "one" },
      { approved, by: "two" },
    ];
    for (const [n, payload] of payloads.entries()) {
      expect(client.pendingInterrupts).toMatchObject([{ id: `i${n + 1}`, toolCallId: "c1" }]);
      const resume = [{ interruptId: `i${n + 1}`, status: "resolved" as const, payload }];
      await running(client, { resume }).ended;
      expect(agent.asked.at(-1)?.input.resume).toEqual(resume);
      // Its agent has the word on it, and no result of it is made up.
      const told = agent.asked.at(-1)?.input.messages.filter(({ role }) => role === "tool");
      expect(told).toEqual([]);
    }
    expect(client.pendingInterrupts).toEqual([]);
    const results = client.messages.filter(({ role }) => role === "tool");
    const content = approved ? "paid" : expect.stringContaining("Denied");
    expect(results).toMatchObject([{ toolCallId: "c1", content }]);
    const [row] = (await stage.state()).calls;
    expect(row?.history.filter(({ what }) => what === "approval_requested")).toHaveLength(2);
    expect(row).toMatchObject({ outcome: approved ? "ok" : "denied" });
  },
);
