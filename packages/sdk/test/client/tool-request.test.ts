import { afterEach, describe, expect, it, vi } from "vitest";
import {
  provideTool,
  type Client,
  type ClientTool,
  type ProvideOptions,
} from "../../src/client/index.ts";
import { loopback, type Loopback } from "../support/loopback.ts";
import { clientOf, commandsSent, offer, TOOLS } from "../support/offer.ts";
import { waitFor } from "../support/wait-for.ts";

const clients: Client[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

describe("a tool that asks a person first", () => {
  it("claims nothing until somebody says so, then runs once, where it was said first", async () => {
    const net = loopback({ tools: TOOLS });
    const ran: string[] = [];
    let finish: (value: string) => void = () => {};
    const pages = ["ana", "bo"].map((name) =>
      page(net, name, {
        execute: () => {
          ran.push(name);
          return new Promise((resolve) => (finish = resolve));
        },
      }),
    );
    offer(net, { c1: "location" });
    for (const { shows } of pages) await shows(["c1", "waiting"]);
    expect(commandsSent(net, "call.claim")).toEqual([]);
    const runs = pages.flatMap(({ provision }) => provision.requests().map((it) => it.run()));
    await waitFor(() => expect(ran).toHaveLength(1));
    const at = ran[0] === "ana" ? 0 : 1;
    await pages[at]?.shows(["c1", "here"]);
    await pages[1 - at]?.shows(["c1", "elsewhere"]);
    finish("Oslo");
    await Promise.all(runs);
    for (const { shows, errors } of pages) {
      await shows();
      expect(errors).toEqual([]);
    }
    expect(ran).toHaveLength(1);
    expect(net.desk.call("c1")).toMatchObject({ outcome: "ok", answer: { by: `user:${ran[0]}` } });
  });

  it("is one execution, however often it is pressed", async () => {
    const net = loopback({ tools: TOOLS });
    const execute = vi.fn(() => "Oslo");
    const { provision, shows } = page(net, "ana", { execute });
    offer(net, { c1: "location" });
    await shows(["c1", "waiting"]);
    const presses = provision.requests().flatMap(({ run }) => [run(), run()]);
    const [request] = provision.requests();
    await Promise.all(presses);
    await request?.run();
    expect(execute).toHaveBeenCalledTimes(1);
    expect(commandsSent(net, "call.claim")).toHaveLength(1);
  });

  it("may be declined, or answered by hand, without being claimed", async () => {
    const net = loopback({ tools: TOOLS });
    const execute = vi.fn();
    const { provision, shows } = page(net, "ana", { execute });
    offer(net, { c1: "location", c2: "location" });
    await shows(["c1", "waiting"], ["c2", "waiting"]);
    const [first, second] = provision.requests();
    await first?.decline("Rather not.");
    await second?.answer({ place: "Oslo" });
    expect(net.desk.call("c1")).toMatchObject({
      outcome: "error",
      reason: "declined",
      answer: { answer: { type: "text", text: "Rather not." } },
    });
    expect(net.desk.call("c2").answer?.answer).toEqual({ type: "json", value: { place: "Oslo" } });
    expect(commandsSent(net, "call.claim")).toEqual([]);
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([
    ["answered by hand", "ok", (it: Shown) => it?.answer("by hand")],
    ["declined", "error", (it: Shown) => it?.decline("No.")],
  ])("is aborted when it is %s while it runs here", async (_, outcome, end) => {
    const net = loopback({ tools: TOOLS });
    let signal: AbortSignal | undefined;
    const { provision, shows, errors } = page(net, "ana", {
      execute: (_args, context) => {
        signal = context.signal;
        return new Promise((resolve) =>
          context.signal.addEventListener("abort", () => resolve("late")),
        );
      },
    });
    offer(net, { c1: "location" });
    await shows(["c1", "waiting"]);
    const run = provision.requests()[0]?.run();
    await waitFor(() => expect(signal).toBeDefined());
    await end(provision.requests()[0]);
    await run;
    expect(signal?.aborted).toBe(true);
    expect(net.desk.call("c1").outcome).toBe(outcome);
    expect(commandsSent(net, "call.answer")).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it("can be given back, and asks again", async () => {
    const net = loopback({ tools: TOOLS });
    const ana = page(net, "ana", { execute: (_, { release }) => release() });
    const bo = page(net, "bo", { execute: () => "Oslo" });
    offer(net, { c1: "location" });
    await ana.shows(["c1", "waiting"]);
    await ana.provision.requests()[0]?.run();
    expect(net.desk.call("c1")).toMatchObject({ status: "open" });
    for (const { shows } of [ana, bo]) await shows(["c1", "waiting"]);
    await bo.provision.requests()[0]?.run();
    expect(net.desk.call("c1").answer).toMatchObject({ by: "user:bo" });
  });

  it("takes over a call whose page was lost, where a person says so", async () => {
    const net = loopback({ tools: TOOLS });
    const { provision, shows } = page(net, "ana", { execute: () => "again" });
    offer(net, { c1: "location" });
    const { claimId = "" } = net.act((desk) =>
      desk.user({ type: "call.claim", callId: "c1" }, "bo"),
    );
    await shows(["c1", "elsewhere"]);
    net.act((desk) => desk.timer({ type: "claim", callId: "c1", claimId }));
    await shows(["c1", "waiting"]);
    expect(net.desk.call("c1").manual).toBe(true);
    await provision.requests()[0]?.run();
    expect(net.desk.call("c1").outcome).toBe("ok");
  });

  it("gives the same list while nothing in it changed", async () => {
    const net = loopback({ tools: TOOLS });
    const { provision, shows, session } = page(net, "ana", { execute: () => 1 });
    expect(provision.requests()).toBe(provision.requests());
    offer(net, { c1: "location", c2: "camera" });
    await shows(["c1", "waiting"]);
    const before = provision.requests();
    await session.answer("c2", 1);
    expect(provision.requests()).toBe(before);
  });

  it("says what went wrong that is no lost race", async () => {
    const net = loopback({ tools: TOOLS });
    const { provision, shows, errors } = page(net, "ana", { execute: () => 1 });
    offer(net, { c1: "location" });
    await shows(["c1", "waiting"]);
    const [request] = provision.requests();
    net.faults.request = ({ method }) =>
      method === "POST" ? new Response("{}", { status: 403 }) : undefined;
    await request?.run();
    await request?.decline("No.");
    expect(errors).toHaveLength(2);
    await shows(["c1", "waiting"]);
  });
});

describe("a tool that runs by itself", () => {
  it("declines with a reason, and what it gives afterwards is not used", async () => {
    const net = loopback({ tools: TOOLS });
    const { errors } = page(
      net,
      "ana",
      {
        execute: async (_, { decline }) => {
          await decline("Rather not.");
          await decline("And again.");
          throw new Error("after all");
        },
      },
      { confirm: false },
    );
    offer(net, { c1: "location" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("settled"));
    expect(net.desk.call("c1")).toMatchObject({
      outcome: "error",
      reason: "declined",
      answer: { answer: { type: "text", text: "Rather not." } },
    });
    await waitFor(() => expect(commandsSent(net, "call.answer")).toHaveLength(1));
    expect(commandsSent(net, "call.answer")[0]).toHaveProperty("claimId");
    expect(errors).toEqual([]);
  });

  it("that gives a call back does not take it again, but another page does, and a person may", async () => {
    const net = loopback({ tools: TOOLS });
    const ran: string[] = [];
    const shy = (name: string) =>
      page(
        net,
        name,
        { execute: (_, { release }) => (ran.push(name), release()) },
        { confirm: false },
      );
    const ana = shy("ana");
    await ana.session.ready();
    offer(net, { c1: "location" });
    await ana.shows(["c1", "waiting"]);
    const bo = shy("bo");
    await bo.shows(["c1", "waiting"]);
    await ana.shows(["c1", "waiting"]);
    expect(ran).toEqual(["ana", "bo"]);
    await ana.provision.requests()[0]?.run();
    expect(ran).toEqual(["ana", "bo", "ana"]);
  });

  it("has one idempotency key for a call, and no other session's call has it", async () => {
    const net = loopback({ tools: TOOLS });
    const keys: string[] = [];
    page(
      net,
      "ana",
      { execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey) },
      { confirm: false },
    );
    offer(net, { c1: "location" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("settled"));
    expect(keys).toEqual(["s1/c1"]);
  });
});

type Shown = ReturnType<ReturnType<typeof provideTool>["requests"]>[number] | undefined;

function page(
  net: Loopback,
  name: string,
  tool: Pick<ClientTool, "execute">,
  options: ProvideOptions = { confirm: true },
) {
  const client = clientOf(net, { fetch: net.fetchAs(name) });
  clients.push(client);
  const session = client.open("s1");
  const errors: unknown[] = [];
  const provision = provideTool(
    session,
    { name: "location", ...tool },
    { ...options, onError: (error) => errors.push(error) },
  );
  return {
    session,
    provision,
    errors,
    /** Resolves once exactly this is listed. */
    shows: (...wanted: (readonly [callId: string, status: string])[]) =>
      waitFor(() => expect(listed()).toEqual(wanted)),
  };

  function listed() {
    return provision.requests().map(({ call, status }) => [call.id, status]);
  }
}
