import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { createServer } from "../../src/index.ts";
import { gate } from "../support/gate.ts";
import { startRun, startServer } from "../support/http.ts";

test("a session is made once, read, listed and deleted", async () => {
  await using server = await startServer({ defaultAgent: "demo" });
  const made = await server.request("PUT", "/v1/sessions/a%2Fb", {
    body: { metadata: { title: "x" }, policy: { whileActive: "refuse" } },
  });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ id: "a/b", agent: "demo", metadata: { title: "x" } });
  const again = await server.request("PUT", "/v1/sessions/a%2Fb", { body: { agent: "other" } });
  expect(again).toEqual({ ...made, status: 200 });
  expect((await server.request("GET", "/v1/sessions/a%2Fb")).body).toEqual(made.body);
  expect((await server.request("PUT", "/v1/sessions/bare")).status).toBe(201);

  const all = await server.request("GET", "/v1/sessions");
  const { offset: _, ...listed } = made.body;
  const bare = { id: "bare", agent: "demo", owner: "user:ana", createdAt: expect.any(Number) };
  expect(all.body).toEqual({ sessions: [listed, bare] });

  expect((await server.request("DELETE", "/v1/sessions/a%2Fb")).status).toBe(204);
  expect((await server.request("GET", "/v1/sessions/a%2Fb")).status).toBe(404);
  expect((await server.request("DELETE", "/v1/sessions/a%2Fb")).status).toBe(204);
});

test("sessions are found by owner, agent and metadata, a page at a time, either way round", async () => {
  await using server = await startServer({ defaultAgent: "demo" });
  const sessions = {
    s1: { metadata: { team: "blue", open: true, tags: ["x"], deep: { team: "blue" } } },
    s2: { metadata: { team: "blue", level: 3 }, agent: "other" },
    s3: { metadata: { team: "red", long: "x".repeat(300), lone: "\ud800" }, owner: "user:bob" },
  };
  for (const [id, body] of Object.entries(sessions))
    expect((await server.request("PUT", `/v1/sessions/${id}`, { body })).status).toBe(201);
  const list = async (query: string) => {
    const { status, body } = await server.request("GET", `/v1/sessions?${query}`);
    expect(status).toBe(200);
    return body as { sessions: { id: string }[]; next?: string };
  };
  const ids = async (query: string) => (await list(query)).sessions.map(({ id }) => id).toSorted();
  expect(await ids("meta.team=blue")).toEqual(["s1", "s2"]);
  expect(await ids("meta.team=blue&meta.level=3")).toEqual(["s2"]);
  expect(await ids("meta.open=true")).toEqual(["s1"]);
  expect(await ids("owner=user:bob")).toEqual(["s3"]);
  expect(await ids("agent=demo&owner=user:ana")).toEqual(["s1"]);
  for (const none of [`meta.long=${"x".repeat(300)}`, "meta.tags=x", "meta.__proto__=x", "after=x"])
    expect(await ids(none)).toEqual([]);
  const forth = await list("limit=2");
  const back = await list("limit=2&order=newest");
  const rest = await list(`limit=2&after=${encodeURIComponent(forth.next ?? "")}`);
  expect([...forth.sessions, ...rest.sessions].map(({ id }) => id).toSorted()).toEqual([
    "s1",
    "s2",
    "s3",
  ]);
  expect(rest).not.toHaveProperty("next");
  expect(back.sessions).toHaveLength(2);
  const bad = await server.request("GET", "/v1/sessions?order=random");
  expect(bad).toMatchObject({ status: 400, body: { code: "invalid_request" } });
});

test("a search finds what has exactly the name and the value it asks for", async () => {
  await using server = await startServer({ defaultAgent: "demo" });
  const all: Record<string, Record<string, string>> = {
    name: { "a=b": "c" },
    value: { a: "b=c" },
    escaped: { "a%3Db": "c" },
    agent: { agent: "evil" },
    dotted: { "meta.a": "x" },
    proto: Object.fromEntries([["__proto__", "p"]]),
    quoted: { "a' or 1=1 --": "%" },
  };
  for (const [id, metadata] of Object.entries(all)) {
    const body = JSON.stringify({ metadata });
    expect((await server.request("PUT", `/v1/sessions/${id}`, { body })).status).toBe(201);
  }
  const find = async (query: Record<string, string>) => {
    const { body } = await server.request("GET", `/v1/sessions?${new URLSearchParams(query)}`);
    return (body["sessions"] as { id: string }[]).map(({ id }) => id);
  };
  for (const [id, metadata] of Object.entries(all)) {
    const [[name, value] = ["", ""]] = Object.entries(metadata);
    expect(await find({ [`meta.${name}`]: value })).toEqual([id]);
  }
  expect(await find({ agent: "evil" })).toEqual([]);
  expect(await find({ "meta.a": "%" })).toEqual([]);
  const twice = await server.request("GET", "/v1/sessions?meta.a=b%3Dc&meta.a=x");
  expect(twice).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  const calls = await server.request("GET", "/v1/calls?tool=a&tool=b");
  expect(calls).toMatchObject({ status: 400, body: { code: "invalid_request" } });
});

test("a search is by the first 32 fields of a session's metadata", async () => {
  await using server = await startServer({ defaultAgent: "demo" });
  const metadata = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, n]));
  await server.request("PUT", "/v1/sessions/s", { body: { metadata } });
  const found = async (n: number) =>
    (await server.request("GET", `/v1/sessions?meta.f${n}=${n}`)).body["sessions"];
  expect(await found(31)).toMatchObject([{ id: "s" }]);
  expect(await found(32)).toEqual([]);
});

test("a list that grows and shrinks while it is paged shows what was there throughout, once", async () => {
  const now = () => 1_700_000_000_000;
  await using server = await startServer({ storage: memoryStorage({ now }), defaultAgent: "demo" });
  const make = async (id: string) => server.request("PUT", `/v1/sessions/${id}`);
  const stays = Array.from({ length: 20 }, (_, n) => `stays${n}`);
  for (const id of stays) {
    await make(id);
    await make(`goes${id}`);
  }
  for (const order of ["oldest", "newest"]) {
    const seen: string[] = [];
    let next: string | undefined;
    for (let page = 0; page === 0 || next !== undefined; page += 1) {
      const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      const query = `/v1/sessions?limit=3&order=${order}${after}`;
      const { body } = await server.request("GET", query);
      seen.push(...(body["sessions"] as { id: string }[]).map(({ id }) => id));
      next = body["next"] as string | undefined;
      if (page > 40) throw new Error("It does not end.");
      await make(`comes${order}${page}`);
      await server.request("DELETE", `/v1/sessions/goesstays${page}`);
    }
    expect(seen.filter((id) => id.startsWith("stays")).toSorted()).toEqual(stays.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  }
});

test("a session is closed by people and applications alone, and says so wherever it is read", async () => {
  await using server = await startServer();
  const { token } = await startRun(server);
  const close = { id: "close", type: "session.close", reason: "done" };
  const update = { id: "update", type: "session.update", metadata: { kept: true } };
  const send = (body: object, as = server.ana) =>
    server.request("POST", "/v1/sessions/s/commands", { body, token: as });
  for (const by of [token, server.demo])
    for (const body of [close, update, { id: "e", type: "content.erase", messageId: "m1" }])
      expect((await send(body, by)).body).toMatchObject({ code: "forbidden" });
  const put = await server.request("PUT", "/v1/sessions/s", { body: { ttlMs: 50_000 } });
  expect(put.body["ttlMs"]).toBeUndefined();
  expect((await send({ id: "ttl", type: "session.update", ttlMs: 50_000 })).status).toBe(200);
  expect((await send(close)).body).toMatchObject({ status: "applied" });
  expect((await send(update)).status).toBe(200);
  const more = { id: "m", type: "message.send", messageId: "m2", content: "more" };
  expect((await send(more)).body).toMatchObject({ status: 409, code: "session_closed" });
  const erase = { id: "erase", type: "content.erase", messageId: "m1", reason: "asked for" };
  expect((await send(erase)).body).toMatchObject({ status: "applied" });
  const entries = await server.request("GET", "/v1/sessions/s/entries");
  expect(JSON.stringify(entries.body)).not.toContain("hello");
  const closed = { by: "user:ana", at: expect.any(Number), reason: "done" };
  const read = await server.request("GET", "/v1/sessions/s");
  expect(read.body).toMatchObject({ metadata: { kept: true }, ttlMs: 50_000, closed });
  const list = await server.request("GET", "/v1/sessions?closed=true");
  expect(list.body).toMatchObject({ sessions: [{ id: "s", closed }] });
  const wrong = await server.request("GET", "/v1/sessions?closed=no");
  expect(wrong.body).toMatchObject({ code: "invalid_request" });
});

test("work is granted with what an attempt needs, and 204 when there is none", async () => {
  await using server = await startServer({ leaseMs: 6_000 });
  await startRun(server);
  const none = await server.request("POST", "/v1/work/claim", {
    token: server.demo,
    body: { agent: "demo", worker: "w2" },
  });
  expect(none.status).toBe(204);
  await server.request("PUT", "/v1/sessions/t", { body: { agent: "demo" } });
  await server.request("POST", "/v1/sessions/t/commands", {
    body: { id: "1", type: "message.send", messageId: "m", content: "x" },
  });
  const { body } = await server.request("POST", "/v1/work/claim", {
    token: server.demo,
    body: { agent: "demo", worker: "w2" },
  });
  expect(body["work"]).toEqual({
    session: "t",
    runId: expect.any(String),
    attempt: 1,
    wakeId: expect.any(String),
    token: expect.any(String),
    leaseMs: 6_000,
    heartbeatMs: 2_000,
    offset: expect.any(String),
  });
});

test("a single command that is refused is a problem with its verdict's fields", async () => {
  await using server = await startServer();
  await startRun(server);
  const { status, body } = await server.request("POST", "/v1/sessions/s/commands", {
    body: { id: "x", type: "run.cancel", runId: "none" },
  });
  expect(status).toBe(404);
  expect(body).toMatchObject({ id: "x", code: "unknown_run", offset: expect.any(String) });
});

test("a failure is internal, retryable, and its cause goes to the log alone", async () => {
  const { storage, failNext } = gate();
  const logged: unknown[] = [];
  await using server = await startServer({ storage, log: (_, error) => logged.push(error) });
  await server.request("PUT", "/v1/sessions/s", { body: {} });
  failNext(new Error("disk /dev/secret is full"));
  const command = { id: "1", type: "message.send", messageId: "m", content: "x" };
  const failed = await server.request("POST", "/v1/sessions/s/commands", { body: command });
  expect(failed.status).toBe(500);
  expect(failed.body).toMatchObject({ code: "internal", retryable: true });
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expect(logged).toMatchObject([{ cause: { message: "disk /dev/secret is full" } }]);
  const again = await server.request("POST", "/v1/sessions/s/commands", { body: command });
  expect(again.body).toMatchObject({ status: "applied" });
});

test("the whole face is one web-standard handler", async () => {
  await using server = createServer({ storage: memoryStorage() });
  const response = await server.fetch(new Request("http://localhost/healthz"));
  expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
});

test("pages come from the same origin, under a policy that lets nothing else in", async () => {
  const pages = await mkdtemp(join(tmpdir(), "holdfast-pages-"));
  try {
    await mkdir(join(pages, "assets"));
    await writeFile(join(pages, "index.html"), "<!doctype html><p>hello");
    await writeFile(join(pages, "assets", "app.js"), "export {};");
    await writeFile(join(pages, "private.txt"), "no");
    await using server = await startServer({ pages });
    const index = await fetch(`${server.url}/`);
    expect(await index.text()).toContain("hello");
    expect(index.headers.get("content-security-policy")).toContain("default-src 'none'");
    const script = await fetch(`${server.url}/assets/app.js`);
    expect(script.headers.get("content-type")).toContain("javascript");
    for (const path of ["/private.txt", "/assets/../private.txt", "/assets/%2e%2e/private.txt"]) {
      expect((await fetch(server.url + path)).status).toBe(404);
    }
  } finally {
    await rm(pages, { recursive: true, force: true });
  }
});

test("nothing is served to other origins", async () => {
  await using server = await startServer();
  const response = await fetch(`${server.url}/healthz`, {
    headers: { origin: "https://a.example" },
  });
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  await response.body?.cancel();
});
