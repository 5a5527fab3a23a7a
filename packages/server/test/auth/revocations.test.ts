import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import {
  createServer,
  memoryStorage,
  mintToken,
  openSqlite,
  type Server,
  type Storage,
} from "../../src/index.ts";
import { ManualClock, quiet } from "../support/clock.ts";
import { send } from "./scene.ts";

const secret = crypto.getRandomValues(new Uint8Array(32));
const YEAR = 366 * 24 * 3_600_000;

async function ask(server: Server, token: string, path = "/v1/sessions") {
  return (await send(server, { method: "GET", path, token })).status;
}

function idOf(token: string): string {
  return decodeJwt(token).jti ?? "";
}

function openOn(clock: ManualClock, storage: Storage = memoryStorage({ now: clock.now })) {
  return createServer({ storage, secret, schedule: clock.schedule });
}

/** A stream's text; `ended` once the server closed it. */
async function follow(server: Server, token: string, after = "") {
  const path = `http://in-process/v1/sessions/s/entries${after}`;
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const response = await server.fetch(new Request(path, { headers }));
  const stream = { status: response.status, text: "", ended: false };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  void (async () => {
    for (;;) {
      const { done, value = "" } = (await reader?.read()) ?? { done: true };
      stream.text += value;
      if (!done) continue;
      stream.ended = true;
      return;
    }
  })();
  await quiet();
  return stream;
}

test("a revoked token is refused at once, however well it is known, and others are not", async () => {
  await using server = openOn(new ManualClock());
  const [ana, bo, root] = await Promise.all(
    ["user:ana", "user:bo", "user:root"].map((it) => server.mint(it)),
  );
  if (!ana || !bo || !root) throw new Error("no tokens");
  expect(await ask(server, ana)).toBe(200);
  expect(await ask(server, ana)).toBe(200); // remembered
  const body = { token: idOf(ana) };
  const path = "/v1/revocations";
  const revoked = await send(server, { method: "POST", path, token: root, body });
  expect([revoked.status, JSON.parse(revoked.text)]).toMatchObject([200, { revocation: body }]);
  expect([await ask(server, ana), await ask(server, bo)]).toEqual([401, 200]);
  const { text } = await send(server, { method: "GET", path, token: root });
  expect(JSON.parse(text)).toMatchObject({ revocations: [body] });
  expect(text).toBe(JSON.stringify({ revocations: await server.revocations() }));
});

test("a principal's tokens of before are revoked, and those of after are not", async () => {
  const clock = new ManualClock();
  await using server = openOn(clock);
  const before = await server.mint("user:__proto__");
  const other = await server.mint("user:ana");
  await clock.advance(2_000);
  await server.revoke({ principal: "user:__proto__" });
  await clock.advance(1_000);
  const after = await server.mint("user:__proto__");
  expect([await ask(server, before), await ask(server, after)]).toEqual([401, 200]);
  expect(await ask(server, other)).toBe(200);
  // An earlier time takes nothing back, and the future is not revoked.
  await server.revoke({ principal: "user:__proto__", before: 1 });
  expect(await ask(server, before)).toBe(401);
  await server.revoke({ principal: "user:ana", before: clock.now() + 3_600_000 });
  await clock.advance(1_000);
  expect(await ask(server, await server.mint("user:ana"))).toBe(200);
});

test("the whole second of a revocation counts, from its first moment to its last", async () => {
  const clock = new ManualClock();
  await using server = openOn(clock); // at a whole second
  const [first, last] = [await server.mint("user:ana"), await server.mint("user:bo")];
  await server.revoke({ principal: "user:ana" });
  await clock.advance(999);
  await server.revoke({ principal: "user:bo" });
  await clock.advance(1);
  const fresh = await Promise.all([server.mint("user:ana"), server.mint("user:bo")]);
  expect(await Promise.all([first, last].map((it) => ask(server, it)))).toEqual([401, 401]);
  expect(await Promise.all(fresh.map((it) => ask(server, it)))).toEqual([200, 200]);
});

test.each([
  [{}],
  [{ token: "x", principal: "user:x" }],
  [{ token: 1 }],
  [{ principal: "user:x", before: "now" }],
  [{ token: "x", before: 1 }],
  [[]],
])("%j revokes nothing", async (body) => {
  await using server = openOn(new ManualClock());
  const token = await server.mint("user:root");
  const answer = await send(server, { method: "POST", path: "/v1/revocations", token, body });
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, "invalid_request"]);
  expect(await server.revocations()).toEqual([]);
});

test("revocations outlive a restart, show in no list, and are forgotten when all they concern has ended", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-revoked-"));
  try {
    let token = "";
    {
      await using storage = await openSqlite({ directory });
      await using server = createServer({ storage, secret });
      token = await server.mint("user:ana");
      await Promise.all([
        server.revoke({ token: idOf(token) }),
        server.revoke({ principal: "user:bo" }),
        server.revoke({ token: "another" }),
      ]);
    }
    const storage = await openSqlite({ directory });
    let now = Date.now();
    const aging: Storage = { ...storage, now: () => now };
    await using server = createServer({ storage: aging, secret });
    expect(await ask(server, token)).toBe(401);
    expect(await server.revocations()).toHaveLength(3);
    const list = await send(server, {
      method: "GET",
      path: "/v1/sessions",
      token: await server.mint("user:root"),
    });
    expect(list.text).toBe('{"sessions":[]}');
    now += YEAR + 60_000;
    expect(await server.revocations()).toEqual([]);
    await server.revoke({ token: "new" });
    expect(await server.revocations()).toHaveLength(1);
    await server.close();
    await storage[Symbol.asyncDispose]();
    await using again = await openSqlite({ directory });
    expect((await again.rows("\u0001server"))?.rows).toHaveLength(1);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test.each([
  ["expires", async (clock: ManualClock) => clock.advance(60_000)],
  [
    "is revoked",
    async (_: ManualClock, server: Server, token: string) => {
      await server.revoke({ token: idOf(token) });
      await quiet();
    },
  ],
] as const)("when a token %s, its stream ends and its wait for work too", async (_, over) => {
  const clock = new ManualClock();
  await using server = openOn(clock);
  const root = await server.mint("user:root");
  const grants = [{ sessions: "*", verbs: ["read", "agent:demo"] }] as const;
  const minted = { secret, principal: "agent:demo", grants, ttlMs: 60_000, now: clock.now };
  const token = await mintToken(minted);
  await send(server, { method: "PUT", path: "/v1/sessions/s", token: root, body: {} });
  const mine = await follow(server, token);
  const other = await follow(server, root);
  let answered = 0;
  const claim = { agent: "demo", worker: "w", waitMs: 30_000 };
  const claiming = { method: "POST", path: "/v1/work/claim", body: claim };
  const waits = async () => (answered = (await send(server, { ...claiming, token })).status);
  await clock.advance(59_000);
  const waiting = waits();
  await clock.advance(500);
  expect([mine.ended, answered]).toEqual([false, 0]);
  await over(clock, server, token);
  await waiting;
  expect([mine.ended, other.ended, answered]).toEqual([true, false, 204]);
  expect((await send(server, { ...claiming, token })).status).toBe(401);
  // With a new token it goes on from its cursor.
  const message = { id: "m", type: "message.send", messageId: "m", content: "x" };
  const path = "/v1/sessions/s/commands";
  await send(server, { method: "POST", path, token: root, body: message });
  const offset = /id: (\S+)/.exec(mine.text)?.[1];
  const next = await follow(server, await mintToken(minted), `?after=${offset}`);
  expect(next.text).toContain("message.added");
  expect(next.text).not.toContain("session.created");
  expect(await follow(server, token)).toMatchObject({ status: 401 });
});

test("with an agent's token, the tokens of its attempts are revoked", async () => {
  const clock = new ManualClock();
  await using server = openOn(clock);
  const root = await server.mint("user:root");
  const demo = await server.mint("agent:demo");
  const post = (path: string, token: string, body: object) =>
    send(server, { method: "POST", path, token, body });
  await send(server, {
    method: "PUT",
    path: "/v1/sessions/s",
    token: root,
    body: { agent: "demo" },
  });
  const message = { id: "m", type: "message.send", messageId: "m", content: "x" };
  await post("/v1/sessions/s/commands", root, message);
  const { text } = await post("/v1/work/claim", demo, { agent: "demo", worker: "w" });
  const { work } = JSON.parse(text);
  expect(await ask(server, work.token, "/v1/sessions/s")).toBe(200);
  await server.revoke({ token: idOf(demo) });
  expect(await ask(server, work.token, "/v1/sessions/s")).toBe(401);
});

test("a token that outlasts what platforms' timers hold is looked at in between", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  let longest = 0;
  const schedule = (ms: number, run: () => void) => {
    longest = Math.max(longest, ms);
    return clock.schedule(ms, run);
  };
  await using server = createServer({ storage, secret, schedule });
  const token = await server.mint("user:ana"); // for 30 days; platforms' timers hold for 24
  await send(server, { method: "PUT", path: "/v1/sessions/s", token, body: {} });
  const stream = await follow(server, token);
  expect(stream.ended).toBe(false);
  expect(longest).toBeLessThan(2 ** 31);
});
