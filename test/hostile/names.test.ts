import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromRows } from "@holdfast/protocol";
import { createServer, openSqlite } from "holdfast";
import { expect, test } from "vitest";
import { devToken, wire } from "../support/wire.ts";

/** Each is somebody's honest name, and none may mean anything to the machinery. */
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "then",
  "toJSON",
  "valueOf",
  "null",
  "undefined",
  "0",
  "-1",
  "a/b",
  "..",
  "a%2Fb",
  "a b+c",
  "a?b#c&d=e;f",
  "'; drop table session; --",
  '"\\',
  "<img src=x onerror=alert(1)>",
  "\u202egnp.exe",
  "naïve é e\u0301",
  "👩‍👩‍👧‍👦",
  "\uffff\u{10ffff}",
  "round:run:1",
  "x".repeat(256),
];

/** What may stand in an id that is in no path and no index: everything that is text. */
const IDS = [...NAMES, "a\u0000b", "a\u0000c", "line\nbreak", "\u0000", " "];

async function openHouse() {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-names-"));
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const start = async () => {
    const storage = await openSqlite({ directory });
    const server = createServer({ storage, secret, dev: true });
    return { storage, server, ...(await server.listen()) };
  };
  const stop = async () => {
    await running.server.close();
    await running.storage[Symbol.asyncDispose]();
  };
  let running = await start();
  return {
    get url() {
      return running.url;
    },
    async restart() {
      await stop();
      running = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(directory, { recursive: true });
    },
  };
}

test("a session, a person and an agent may be called anything", async () => {
  await using house = await openHouse();
  const names = NAMES.filter((name) => name !== ".."); // which no path can say
  const looks = async () => {
    const seen: unknown[] = [];
    for (const name of names) {
      const person = wire(house.url, await devToken(house.url, { name }));
      const agent = wire(house.url, await devToken(house.url, { agent: name }));
      await person.create(name, name);
      const sent = await person.command(name, {
        id: name,
        type: "message.send",
        messageId: name,
        content: name,
        metadata: JSON.parse(`{${JSON.stringify(name)}:{"__proto__":1}}`) as Record<
          string,
          unknown
        >,
      });
      expect(sent).toMatchObject({ status: "applied", id: name });
      const work = await agent.claimWork({ agent: name, worker: name, waitMs: 0 });
      if (work) expect(work.session).toBe(name);
      const { state } = await person.state(name);
      expect(state.session.agent).toBe(name);
      expect(state.messages).toMatchObject([{ id: name, by: `user:${name}`, content: name }]);
      expect(Object.keys(state.messages[0]?.metadata ?? {})).toEqual([name]);
      seen.push([state.messages, state.session]);
    }
    const { body } = await wire(house.url, await devToken(house.url, { name: "x" })).call(
      "GET",
      "/v1/sessions",
    );
    const { sessions } = body as { sessions: { id: string }[] };
    expect(sessions.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
    return seen;
  };
  const before = await looks();
  await house.restart();
  expect(await looks()).toEqual(before); // every command was a repeat
});

test("a message, a call, a tool, a producer, a command and metadata may be called anything", async () => {
  await using house = await openHouse();
  const ana = wire(house.url, await devToken(house.url, { name: "ana" }));
  const agent = wire(house.url, await devToken(house.url, { agent: "demo" }));
  await ana.create("s");
  const advertised = await ana.command("s", {
    type: "tools.advertise",
    tools: NAMES.map((name) => ({
      name,
      parameters: {
        properties: JSON.parse(`{${JSON.stringify(name)}:{"type":"number"}}`) as unknown,
      },
    })),
  });
  expect(advertised.status).toBe("applied");
  await ana.command("s", { type: "message.send", messageId: "m", content: "go" });
  const work = await agent.claimWork({ worker: "w" });
  if (!work) throw new Error("No work came.");
  const attempt = ana.as(work.token);
  const append = (producer: string, seq: number, items: object[]) =>
    attempt.command("s", {
      id: producer,
      type: "run.append",
      runId: work.runId,
      attempt: work.attempt,
      producer,
      seq,
      items: items as never,
    });
  expect(await append("main", 1, [{ type: "round.open" }])).toMatchObject({ status: "applied" });
  for (const [index, id] of IDS.entries()) {
    const name = NAMES[index % NAMES.length];
    const metadata = JSON.parse(`{${JSON.stringify(id)}:{"__proto__":1}}`) as unknown;
    const verdict = await append(id, 1, [
      // Ids of the reduction's own kind are taken from nobody.
      { type: "TEXT_MESSAGE_START", messageId: `t:${id}`.slice(0, 256), metadata },
      { type: "TEXT_MESSAGE_CONTENT", messageId: `t:${id}`.slice(0, 256), delta: id },
      { type: "TEXT_MESSAGE_END", messageId: `t:${id}`.slice(0, 256) },
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, metadata },
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: id },
    ]);
    expect(verdict).toMatchObject({ status: "applied" });
    expect(verdict.skipped).toBeUndefined();
  }
  expect(await append("main", 2, [{ type: "round.close" }])).toMatchObject({ status: "applied" });
  for (const id of IDS) {
    const answer = { type: "json", value: id } as const;
    const command = { id, type: "call.answer", callId: id, outcome: "ok", answer } as const;
    expect(await ana.command("s", command)).toMatchObject({ status: "applied", id });
  }
  const look = async () => {
    const { offset, state } = await ana.state("s");
    const { calls } = fromRows(offset, state);
    return IDS.map((id) => {
      const { status, outcome, answer, metadata, invalid } = calls.get(id) ?? {};
      expect(Object.keys(metadata ?? {})).toEqual([id]);
      expect(invalid).toBeUndefined();
      return { id, status, outcome, value: answer?.answer };
    });
  };
  const before = await look();
  expect(before).toEqual(
    IDS.map((id) => ({
      id,
      status: "settled",
      outcome: "ok",
      value: { type: "json", value: id },
    })),
  );
  await house.restart();
  const again = wire(house.url, await devToken(house.url, { name: "ana" }));
  const { offset, state } = await again.state("s");
  expect(fromRows(offset, state).calls.size).toBe(IDS.length);
  for (const id of IDS) {
    const answer = { type: "json", value: id } as const;
    const command = { id, type: "call.answer", callId: id, outcome: "ok", answer } as const;
    expect(await again.command("s", command)).toMatchObject({ repeated: true, id });
  }
});
