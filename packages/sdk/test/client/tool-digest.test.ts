import type { Frame } from "@holdfast/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { provideTool, type Client } from "../../src/client/index.ts";
import { loopback, type Loopback } from "../support/loopback.ts";
import { clientOf, commandsSent, offer, TOOLS } from "../support/offer.ts";
import { realServer } from "../support/real-server.ts";
import { waitFor } from "../support/wait-for.ts";

/** Two versions of one tool, as two releases of a page have them. */
const OLD = { type: "object", properties: { city: { type: "string" } } };
const NEW = { properties: { place: { type: "string" }, city: undefined }, type: "object" };

const clients: Client[] = [];

describe("the schema that a page executes", () => {
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  it("is named by its digest in every claim", async () => {
    const net = loopback();
    provideTool(open(net), { name: "where", parameters: NEW, execute: () => 1 });
    await advertised(net, "place");
    offer(net, { c1: "where" });
    await settled(net, "c1");
    const { tool } = net.desk.call("c1");
    expect(tool?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(commandsSent(net, "call.claim")).toMatchObject([{ toolDigest: tool?.digest }]);
  });

  it.each([
    ["an older version", OLD],
    ["no schema at all", undefined],
  ])(
    "is not that of a call where the page has %s: it is left to those that have it",
    async (_, parameters) => {
      const net = loopback();
      const ran: string[] = [];
      const stale = open(net);
      const tool = { name: "where", ...(parameters && { parameters }) };
      provideTool(stale, { ...tool, execute: () => ran.push("old") });
      await advertised(net, parameters ? "city" : undefined);
      provideTool(open(net), { name: "where", parameters: NEW, execute: () => ran.push("new") });
      await advertised(net, "place");
      offer(net, { c1: "where" });
      await settled(net, "c1");
      await stale.reached(net.desk.state.head);
      expect(ran).toEqual(["new"]);
      expect(commandsSent(net, "call.claim")).toHaveLength(1);
    },
  );

  it("is compared by the server, whatever the page knows", async () => {
    const net = loopback();
    const errors: unknown[] = [];
    const execute = vi.fn();
    const session = open(net);
    provideTool(
      session,
      { name: "where", parameters: OLD, execute },
      { onError: ({ code }) => errors.push(code) },
    );
    await advertised(net, "city");
    // The page is not told which version the call is of.
    net.faults.frame = (frame) => [
      JSON.parse(JSON.stringify(frame).replaceAll(/,"digest":"[^"]*"/g, "")) as Frame,
    ];
    net.act((desk) =>
      desk.user({ type: "tools.advertise", tools: [{ name: "where", parameters: NEW }] }),
    );
    offer(net, { c1: "where" });
    await waitFor(() => expect(errors).toEqual(["not_executor"]));
    expect(execute).not.toHaveBeenCalled();
    expect(net.desk.call("c1").status).toBe("open");
  });

  it("is any where the agent declares the tool itself", async () => {
    const net = loopback({ tools: TOOLS });
    provideTool(open(net), { name: "location", parameters: NEW, execute: () => "Oslo" });
    offer(net, { c1: "location" });
    await settled(net, "c1");
    expect(commandsSent(net, "call.claim")[0]).not.toHaveProperty("toolDigest");
  });

  it("may change while a claim is under way: the call is given back unexecuted", async () => {
    const net = loopback();
    const session = open(net);
    const execute = vi.fn();
    const old = provideTool(session, { name: "where", parameters: OLD, execute });
    await advertised(net, "city");
    net.faults.response = ({ body }) => {
      if (!JSON.stringify(body ?? "").includes("call.claim")) return undefined;
      net.faults.response = () => undefined;
      old.close();
      provideTool(session, { name: "where", parameters: NEW, execute });
      return undefined;
    };
    offer(net, { c1: "where" });
    await waitFor(() => expect(commandsSent(net, "call.release")).toHaveLength(1));
    await session.reached(net.desk.state.head);
    expect(net.desk.call("c1").status).toBe("open");
    expect(execute).not.toHaveBeenCalled();
  });

  it("keeps a stale page from a newer call on a real server", async () => {
    await using server = await realServer();
    const [stale, fresh] = ["ana", "bo"].map((name) =>
      server.client(name).open("s1", { create: { agent: "demo" } }),
    );
    if (!stale || !fresh) throw new Error("no sessions");
    const ran: string[] = [];
    provideTool(stale, { name: "where", parameters: OLD, execute: () => ran.push("old") });
    await waitFor(() => expect(stale.state.session.advertised).toHaveLength(1));
    const old = stale.state.session.advertised[0]?.tool.digest ?? "";
    provideTool(
      fresh,
      { name: "where", parameters: NEW, execute: () => ran.push("new") },
      { confirm: true },
    );
    await waitFor(() => expect(stale.state.session.advertised[0]?.version).toBe(2));
    await stale.send("where am I?");
    const run = await server.agent([]).take();
    await run.append(
      { type: "round.open" },
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "where" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      { type: "round.close" },
    );
    await run.finish();
    await waitFor(() => expect(stale.state.calls.get("c1")?.status).toBe("open"));
    await expect(stale.claim("c1", { toolDigest: old })).rejects.toMatchObject({
      code: "not_executor",
      details: { toolDigest: stale.state.calls.get("c1")?.tool?.digest },
    });
    const again = provideTool(fresh, {
      name: "where",
      parameters: NEW,
      execute: () => ran.push("new"),
    });
    await waitFor(() => expect(fresh.state.calls.get("c1")?.outcome).toBe("ok"));
    again.close();
    expect(ran).toEqual(["new"]);
  });
});

function open(net: Loopback) {
  const client = clientOf(net);
  clients.push(client);
  return client.open("s1");
}

/** Resolves once what is advertised has this property. */
function advertised(net: Loopback, property: string | undefined): Promise<void> {
  return waitFor(() => {
    const { parameters } = net.desk.state.session.advertised[0]?.tool ?? {};
    expect(net.desk.state.session.advertised).toHaveLength(1);
    expect(Object.keys((parameters?.["properties"] as object | undefined) ?? {})).toEqual(
      property === undefined ? [] : [property],
    );
  });
}

function settled(net: Loopback, callId: string): Promise<void> {
  return waitFor(() => expect(net.desk.call(callId).status).toBe("settled"));
}
