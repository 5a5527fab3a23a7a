import { afterEach, describe, expect, it, vi } from "vitest";
import { provideTool, type Client, type ToolContext } from "../../src/client/index.ts";
import { proposal } from "../../../protocol/test/support/desk.ts";
import { loopback, type Loopback } from "../support/loopback.ts";
import { manualTiming } from "../support/manual-timing.ts";
import { clientOf, commandsSent, offer, TOOLS } from "../support/offer.ts";
import { waitFor } from "../support/wait-for.ts";

const clients: Client[] = [];

describe("provideTool", () => {
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  it("advertises, claims, runs and answers", async () => {
    const net = loopback();
    const session = open(net);
    provideTool(session, {
      name: "where",
      description: "Where the person is.",
      execute: async (args, { callId, progress }) => {
        await progress("looking");
        return { args, callId };
      },
    });
    await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
    offer(net, { c1: "where" }, '{"precise":true}');
    await settled(net, "c1");
    expect(net.desk.call("c1")).toMatchObject({
      outcome: "ok",
      progress: "looking",
      answer: { answer: { type: "json", value: { args: { precise: true }, callId: "c1" } } },
    });
    expect(commandsSent(net, "call.answer")[0]).toMatchObject({ claimId: "claim1" });
  });

  it("advertises again only what is not advertised already", async () => {
    const net = loopback();
    const tool = {
      name: "where",
      parameters: { type: "object", properties: {} },
      execute: () => 1,
    };
    for (const _ of [1, 2]) {
      const session = open(net);
      provideTool(session, tool);
      await session.ready();
      await session.send("x");
      await session.close();
    }
    expect(commandsSent(net, "tools.advertise")).toHaveLength(1);
  });

  it("runs each call once, however many tabs, devices and providers there are", async () => {
    const net = loopback({ tools: TOOLS });
    const ran: string[] = [];
    const errors: unknown[] = [];
    const tab = (name: string, fetch?: Loopback["fetch"]) => {
      const session = open(net, fetch);
      const tool = {
        name: "location",
        execute: async (_: unknown, { callId }: ToolContext) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          ran.push(`${name} ${callId}`);
        },
      };
      provideTool(session, tool, { onError: (error) => errors.push(error) });
      provideTool(session, tool, { onError: (error) => errors.push(error) });
    };
    for (const n of [1, 2, 3]) tab(`ana ${n}`);
    tab("bo", net.fetchAs("bo"));
    await waitFor(() => expect(net.open).toBe(4));
    offer(net, { c1: "location", c2: "location", c3: "location" });
    for (const id of ["c1", "c2", "c3"]) await settled(net, id);
    expect(ran.map((it) => it.slice(-2)).sort()).toEqual(["c1", "c2", "c3"]);
    expect(commandsSent(net, "call.answer")).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  it.each([0, "", false, null, undefined])("C103: answers with %j", async (value) => {
    const net = loopback({ tools: TOOLS });
    provideTool(open(net), { name: "location", execute: () => value });
    offer(net, { c1: "location" });
    await settled(net, "c1");
    expect(net.desk.call("c1")).toMatchObject({
      outcome: "ok",
      answer: { answer: { type: "json", value: value ?? null } },
    });
  });

  it("answers a throw, and what is no JSON, as an error with its message", async () => {
    const net = loopback({ tools: TOOLS });
    const session = open(net);
    provideTool(session, { name: "location", execute: () => Promise.reject(new Error("No GPS.")) });
    provideTool(session, { name: "camera", execute: () => 1n as unknown as number });
    offer(net, { c1: "location", c2: "camera" });
    await settled(net, "c1");
    await settled(net, "c2");
    expect(net.desk.call("c1")).toMatchObject({
      outcome: "error",
      answer: { answer: { type: "text", text: "No GPS." } },
    });
    expect(net.desk.call("c2").outcome).toBe("error");
  });

  it("C78: a call that was never taken can be claimed after a reload", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "location" });
    provideTool(open(net), { name: "location", execute: () => "Oslo" });
    await settled(net, "c1");
    expect(net.desk.call("c1").answer?.answer).toEqual({ type: "json", value: "Oslo" });
  });

  it("after a reload, takes again what is safe to repeat and leaves the rest to people", async () => {
    const net = loopback({ tools: TOOLS });
    const first = open(net);
    const begun: string[] = [];
    const endless = (_: unknown, { callId }: ToolContext) => {
      begun.push(callId);
      return new Promise<never>(() => {});
    };
    provideTool(first, { name: "location", execute: endless });
    provideTool(first, { name: "camera", execute: endless });
    offer(net, { c1: "location", c2: "camera" });
    await waitFor(() => expect(begun).toHaveLength(2));
    await first.close();

    const again: string[] = [];
    const second = open(net);
    const execute = (_: unknown, { callId }: ToolContext) => void again.push(callId);
    provideTool(second, { name: "location", execute });
    provideTool(second, { name: "camera", execute });
    await second.ready();
    expect(again).toEqual([]);
    for (const callId of ["c1", "c2"]) {
      const claimId = net.desk.call(callId).claim?.id ?? "";
      net.act((desk) => desk.timer({ type: "claim", callId, claimId }));
    }
    await settled(net, "c2");
    expect(net.desk.call("c1")).toMatchObject({ status: "open", manual: true });
    expect(again).toEqual(["c2"]);
    expect(
      commandsSent(net, "call.claim")
        .map(({ callId }) => String(callId))
        .sort(),
    ).toEqual(["c1", "c2", "c2"]);
    await second.answer("c1", "by hand");
    expect(net.desk.call("c1").outcome).toBe("ok");
  });

  it("C17: never runs a call that has an answer", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "location" });
    const early = open(net);
    await early.answer("c1", "first");
    const ran = vi.fn(() => "second");
    const session = open(net);
    provideTool(session, { name: "location", execute: ran });
    await session.ready();
    // The agent repeats the answered call, as after an error or a replay.
    net.act((desk) => {
      desk.start("run1");
      desk
        .agent("run1")
        .append({ type: "round.open" }, ...proposal("c1", "location"), { type: "round.close" });
      desk.agent("run1").finish();
    });
    await session.reached(net.desk.state.head);
    await session.send("and so on");
    expect(ran).not.toHaveBeenCalled();
    expect(net.desk.call("c1").answer?.answer).toEqual({ type: "json", value: "first" });
  });

  it.each([
    ["cancelled", (net: Loopback) => net.desk.user({ type: "call.cancel", callId: "c1" })],
    ["ended with its run", (net: Loopback) => net.desk.user({ type: "run.cancel", runId: "run1" })],
  ])("aborts what it runs when the call is %s, and answers nothing", async (_, end) => {
    const net = loopback({ tools: TOOLS });
    let signal: AbortSignal | undefined;
    provideTool(open(net), {
      name: "location",
      execute: (_args, context) => {
        signal = context.signal;
        return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(1)));
      },
    });
    offer(net, { c1: "location" });
    await waitFor(() => expect(signal).toBeDefined());
    net.act(() => end(net));
    await waitFor(() => expect(signal?.aborted).toBe(true));
    expect(signal?.reason).toMatchObject({ code: "call_settled" });
    await Promise.resolve();
    expect(commandsSent(net, "call.answer")).toEqual([]);
  });

  it("renews its claim while it runs", async () => {
    const net = loopback({ tools: TOOLS });
    const { timing, pass } = manualTiming();
    let finish: (value: string) => void = () => {};
    provideTool(
      open(net),
      { name: "location", execute: () => new Promise((resolve) => (finish = resolve)) },
      { timing, heartbeatMs: 1_000 },
    );
    offer(net, { c1: "location" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("claimed"));
    for (const n of [1, 2, 3]) {
      await pass(1_000);
      await waitFor(() => expect(commandsSent(net, "call.renew")).toHaveLength(n));
    }
    finish("done");
    await settled(net, "c1");
    await pass(5_000);
    expect(commandsSent(net, "call.renew")).toHaveLength(3);
  });

  it("does not run a call beside itself when its claim ends meanwhile, and answers as its last holder", async () => {
    const net = loopback({ tools: TOOLS });
    const session = open(net);
    const finish: ((value: string) => void)[] = [];
    provideTool(session, {
      name: "camera",
      execute: () => new Promise((resolve) => void finish.push(resolve)),
    });
    offer(net, { c1: "camera" });
    await waitFor(() => expect(finish).toHaveLength(1));
    const claimId = net.desk.call("c1").claim?.id ?? "";
    net.act((desk) => desk.timer({ type: "claim", callId: "c1", claimId }));
    await session.reached(net.desk.state.head);
    const { version } = session;
    await waitFor(() => expect(session.version).toBeGreaterThan(version));
    expect(net.desk.call("c1").status).toBe("open");
    finish[0]?.("done");
    await settled(net, "c1");
    expect(finish).toHaveLength(1);
    expect(net.desk.call("c1").answer?.answer).toEqual({ type: "json", value: "done" });
  });

  it("finishes what it runs after it was closed, and takes nothing new", async () => {
    const net = loopback({ tools: TOOLS });
    const session = open(net);
    let finish: (value: string) => void = () => {};
    const provision = provideTool(session, {
      name: "location",
      execute: () => new Promise((resolve) => (finish = resolve)),
    });
    offer(net, { c1: "location", c2: "camera" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("claimed"));
    provision.close();
    finish("done");
    await settled(net, "c1");
    offer(net, { c3: "location" });
    await session.reached(net.desk.state.head);
    expect(net.desk.call("c3").status).toBe("open");
  });

  it("gives a claim back that was granted when nobody provides the tool any more", async () => {
    const net = loopback({ tools: TOOLS });
    const session = open(net);
    const ran = vi.fn();
    offer(net, { c1: "location" });
    await session.ready();
    provideTool(session, { name: "location", execute: ran }).close();
    await waitFor(() => expect(commandsSent(net, "call.release")).toHaveLength(1));
    await waitFor(() => expect(net.desk.call("c1").status).toBe("open"));
    expect(ran).not.toHaveBeenCalled();
  });

  it("answers once the network is back", async () => {
    const net = loopback({ tools: TOOLS });
    let finish: (value: string) => void = () => {};
    provideTool(open(net), {
      name: "location",
      execute: () => new Promise((resolve) => (finish = resolve)),
    });
    offer(net, { c1: "location" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("claimed"));
    let tries = 5;
    net.faults.request = () => ((tries -= 1) >= 0 ? new TypeError("down") : undefined);
    net.cut(new Error("gone"));
    finish("done");
    await settled(net, "c1");
    expect(net.desk.call("c1").outcome).toBe("ok");
  });
});

function open(net: Loopback, fetch = net.fetch) {
  const client = clientOf(net, { fetch });
  clients.push(client);
  return client.open("s1");
}

function settled(net: Loopback, callId: string): Promise<void> {
  return waitFor(() => expect(net.desk.call(callId).status).toBe("settled"));
}
