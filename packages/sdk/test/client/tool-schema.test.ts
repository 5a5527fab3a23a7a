import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { provideTool, type Client, type StandardSchema } from "../../src/client/index.ts";
import { parseWith, toJsonSchema } from "../../src/client/tool-schema.ts";
import { loopback, type Loopback } from "../support/loopback.ts";
import { clientOf, offer } from "../support/offer.ts";
import { waitFor } from "../support/wait-for.ts";

const clients: Client[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function open(net: Loopback) {
  const client = clientOf(net);
  clients.push(client);
  return client.open("s1", { create: { agent: "demo" } });
}

const settled = (net: Loopback, id: string) =>
  waitFor(() => expect(net.desk.call(id).status).toBe("settled"));

test("a Standard Schema is declared as JSON Schema, and gives execute its type and value", async () => {
  const net = loopback();
  const ran: unknown[] = [];
  provideTool(open(net), {
    name: "where",
    parameters: z.object({ city: z.string(), days: z.number().default(1) }),
    result: z.object({ ok: z.boolean() }),
    execute: ({ city, days }, { idempotencyKey }) => {
      ran.push(city.toUpperCase(), days + 1, idempotencyKey);
      return { ok: true };
    },
  });
  await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
  const [advertised] = net.desk.state.session.advertised;
  expect(advertised?.tool).toMatchObject({
    name: "where",
    executor: "client",
    parameters: { type: "object", required: ["city"] },
    result: { type: "object", required: ["ok"] },
  });
  offer(net, { c1: "where" }, '{"city":"Bern"}');
  await settled(net, "c1");
  expect(ran).toEqual(["BERN", 2, "s1/c1"]);
  expect(net.desk.call("c1").answer?.answer).toEqual({ type: "json", value: { ok: true } });
});

test("arguments that its schema refuses run nothing, and the answer names where", async () => {
  const net = loopback();
  let ran = 0;
  provideTool(open(net), {
    name: "where",
    // What no JSON Schema can say, so that only the client finds it.
    parameters: z.object({ at: z.object({ day: z.string().refine((it) => it !== "never") }) }),
    execute: () => void (ran += 1),
  });
  await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
  offer(net, { c1: "where" }, '{"at":{"day":"never"}}');
  await settled(net, "c1");
  expect(ran).toBe(0);
  expect(net.desk.call("c1").outcome).toBe("error");
  expect(net.desk.call("c1").answer?.answer).toMatchObject({
    type: "text",
    text: expect.stringContaining("Invalid arguments: /at/day: "),
  });
});

test.each([
  { newer: "stays", runs: ["new"] },
  { newer: "goes", runs: [] },
])(
  "a call of a newer schema is left to pages that have it; the newer page $newer",
  async ({ newer, runs }) => {
    const net = loopback();
    const ran: string[] = [];
    const provide = (key: string) => {
      const session = open(net);
      provideTool(session, {
        name: "where",
        parameters: { type: "object", properties: { [key]: {} } },
        execute: () => void ran.push(key),
      });
      return session;
    };
    const old = provide("old");
    await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
    const page = provide("new");
    await waitFor(() => expect(net.desk.state.session.advertised[0]?.version).toBe(2));
    if (newer === "goes") await page.close();
    offer(net, { c1: "where" });
    await old.reached(net.desk.state.head);
    if (newer === "stays") await settled(net, "c1");
    else expect(net.desk.call("c1").status).toBe("open");
    expect(ran).toEqual(runs);
  },
);

test("a schema that cannot say itself as JSON Schema is refused at once", () => {
  const mute: StandardSchema = {
    "~standard": { version: 1, vendor: "mute", validate: (value) => ({ value }) },
  };
  const tool = { name: "where", parameters: mute, execute: () => 1 };
  expect(() => provideTool(open(loopback()), tool)).toThrow(/schema of mute/);
});

test("JSON Schema is as it is, and checked by the server alone", async () => {
  const schema = { type: "object", required: ["a"] };
  expect(toJsonSchema(schema)).toBe(schema);
  expect(await parseWith(schema, {})).toEqual({});
  expect(await parseWith(undefined, [1])).toEqual([1]);
  await expect(parseWith(z.string(), 1)).rejects.toThrow("(root)");
});
