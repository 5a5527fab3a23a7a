import { createServer, memoryStorage } from "holdfast";
import { CompactSign, SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { openHouse, proposal } from "../cases/support.ts";
import { devToken } from "../support/wire.ts";
import { changesNothing, connect } from "./support.ts";

const secret = crypto.getRandomValues(new Uint8Array(32));
const now = Math.floor(Date.now() / 1000);

function sign(claims: Record<string, unknown>, key = secret, alg = "HS256"): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
}

/** Signs what `JSON.stringify` would not write. */
async function signText(payload: string): Promise<string> {
  const signer = new CompactSign(Buffer.from(payload));
  return signer.setProtectedHeader({ alg: "HS256" }).sign(secret);
}

test("a token that is not good is good for nothing", async () => {
  await using house = await openHouse({ secret });
  const grants = [{ sessions: "*", verbs: ["admin"] }];
  const good = { sub: "user:eve", iat: now, exp: now + 60, grants };
  const text = await sign(good);
  const [header = "", payload = "", signature = ""] = text.split(".");
  const forged = Buffer.from(JSON.stringify({ ...good, sub: "user:root" })).toString("base64url");
  const half = { session: "s1", runId: "run_x" };
  const bad: Record<string, string> = {
    none: "",
    "a word": "garbage",
    "three words": "a.b.c",
    "of an unsigned kind": new UnsecuredJWT(good).encode(),
    "said to be unsigned": `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.${signature}`,
    "without its signature": `${header}.${payload}.`,
    "of another's signature": `${header}.${forged}.${signature}`,
    "of another secret": await sign(good, crypto.getRandomValues(new Uint8Array(32))),
    "of another algorithm": await sign(good, crypto.getRandomValues(new Uint8Array(64)), "HS512"),
    expired: await sign({ ...good, exp: now - 1 }),
    "that never expires": await sign({ ...good, exp: undefined }),
    "of no time": await sign({ ...good, iat: undefined }),
    "of the future": await sign({ ...good, iat: now + 30, exp: now + 60 }),
    "that does not hold yet": await sign({ ...good, nbf: now + 30 }),
    "that lasts for years": await sign({ ...good, exp: now + 400 * 86_400 }),
    "that lasts for ever": await signText(
      `{"sub":"user:eve","iat":${now},"exp":1e999,"grants":[]}`,
    ),
    "that is too long": await sign({ ...good, padding: "x".repeat(9_000) }),
    "of nobody": await sign({ ...good, sub: undefined }),
    "of a name with a line break": await sign({ ...good, sub: "user:a\nb" }),
    "of a kind that is none": await sign({ ...good, sub: "root:eve" }),
    "with grants that are none": await sign({ ...good, grants: { sessions: "*" } }),
    "with a verb that is none": await sign({
      ...good,
      grants: [{ sessions: "*", verbs: ["fly"] }],
    }),
    "with a verb of no tool": await sign({
      ...good,
      grants: [{ sessions: "*", verbs: ["answer:"] }],
    }),
    "with a pattern that is empty": await sign({
      ...good,
      grants: [{ sessions: "", verbs: ["admin"] }],
    }),
    "of nobody in particular": await sign({ ...good, sub: "user:" }),
    "of the server itself": await sign({ ...good, sub: "server" }),
    "of half an attempt": await sign({ ...good, attempt: half }),
    "of an attempt by a word": await sign({ ...good, attempt: { ...half, attempt: "1" } }),
    "of an attempt of no session": await sign({
      ...good,
      attempt: { ...half, session: 1, attempt: 1 },
    }),
    "of an attempt that is nothing": await sign({ ...good, attempt: null }),
  };
  using connection = connect(house.url, text);
  expect(await connection.ask({ path: "/v1/sessions/s1" })).toMatchObject({ status: 200 });
  await changesNothing(house, async () => {
    for (const [label, token] of Object.entries(bad)) {
      const headers = { authorization: `Bearer ${token}` };
      const requests = [
        { path: "/v1/sessions/s1", headers },
        { path: `/v1/sessions/s1/state?access_token=${token}`, headers: { authorization: "" } },
        { method: "DELETE", path: "/v1/sessions/s1", headers },
        { method: "PUT", path: "/v1/sessions/s2", headers },
        { method: "POST", path: "/v1/sessions/s1/commands", headers, body: "{}" },
        { method: "POST", path: "/v1/work/claim", headers, body: '{"agent":"demo","worker":"w"}' },
      ];
      for (const asked of requests) {
        const { status, code } = await connection.ask(asked);
        expect([label, asked.path, status, code]).toEqual([
          label,
          asked.path,
          401,
          "unauthenticated",
        ]);
      }
    }
    // A token in the address is for reading.
    const writing = `/v1/sessions/s1?access_token=${text}`;
    const headers = { authorization: "" };
    for (const method of ["DELETE", "PUT"]) {
      expect((await connection.ask({ method, path: writing, headers })).status).toBe(401);
    }
  });
});

test("a token does what it is for, in its own session, and nothing else", async () => {
  await using house = await openHouse({ secret });
  await house.ana.create("s2");
  const runId = await house.send("go");
  const { agent: attempt, append } = await house.attempt();
  await append({ type: "round.open" }, ...proposal("gated", "transfer", "{}"));
  await append(...proposal("ours", "weather", "{}"), ...proposal("theirs", "location", "{}"));
  await append({ type: "round.close" });
  const approvalId = (await house.state()).calls.get("gated")?.approval?.id ?? "";
  const { ana, agent } = house;
  const fence = { runId, attempt: 1, producer: "p", seq: 1 } as const;
  const answer = { outcome: "ok", answer: { type: "json", value: 1 } } as const;
  const decide = { type: "call.decide", callId: "gated", approvalId, approved: true } as const;
  const message = { type: "message.send", content: "x" } as const;
  const cases = [
    ["a person appends", ana, { type: "run.append", ...fence, items: [] }, "forbidden"],
    ["a person heartbeats", ana, { type: "run.heartbeat", runId, attempt: 1 }, "forbidden"],
    ["a person finishes", ana, { type: "run.finish", ...fence }, "forbidden"],
    [
      "an agent appends without an attempt",
      agent,
      { type: "run.append", ...fence, items: [] },
      "forbidden",
    ],
    [
      "an attempt appends to another",
      attempt,
      { type: "run.append", ...fence, attempt: 2, items: [] },
      "forbidden",
    ],
    [
      "an attempt appends to another run",
      attempt,
      { type: "run.append", ...fence, runId: "r", items: [] },
      "forbidden",
    ],
    ["an agent decides", agent, decide, "forbidden"],
    ["an attempt decides", attempt, decide, "forbidden"],
    ["an attempt sends a message", attempt, { ...message, messageId: "x" }, "forbidden"],
    ["an attempt cancels its run", attempt, { type: "run.cancel", runId }, "forbidden"],
    ["an attempt cancels a call", attempt, { type: "call.cancel", callId: "ours" }, "forbidden"],
    ["an attempt sets the policy", attempt, { type: "policy.set", policy: {} }, "forbidden"],
    ["an agent sets the policy", agent, { type: "policy.set", policy: {} }, "forbidden"],
    ["an attempt advertises", attempt, { type: "tools.advertise", tools: [] }, "forbidden"],
    [
      "an attempt answers for a client",
      attempt,
      { type: "call.answer", callId: "theirs", ...answer },
      "not_executor",
    ],
    [
      "an attempt claims for a client",
      attempt,
      { type: "call.claim", callId: "theirs" },
      "not_executor",
    ],
    [
      "a person answers for the agent",
      ana,
      { type: "call.answer", callId: "ours", ...answer },
      "not_executor",
    ],
    ["a person claims for the agent", ana, { type: "call.claim", callId: "ours" }, "not_executor"],
    [
      "an agent claims without an attempt",
      agent,
      { type: "call.claim", callId: "ours" },
      "not_executor",
    ],
    [
      "an agent answers for a client",
      agent,
      { type: "call.answer", callId: "theirs", ...answer },
      "forbidden",
    ],
    ["an agent sends a message", agent, { ...message, messageId: "y" }, "forbidden"],
    ["an agent sets the policy", agent, { type: "policy.set", policy: {} }, "forbidden"],
    ["an agent cancels its run", agent, { type: "run.cancel", runId }, "forbidden"],
  ] as const;
  await changesNothing(house, async () => {
    for (const [label, who, command, code] of cases) {
      const { error } = await who.command(house.session, command);
      expect([label, error?.code]).toEqual([label, code]);
    }
    const path = "/v1/sessions/s2";
    for (const [method, to] of [
      ["GET", path],
      ["GET", `${path}/state`],
      ["GET", `${path}/entries`],
      ["POST", `${path}/commands`],
      ["DELETE", path],
      ["DELETE", "/v1/sessions/s1"],
      ["PUT", "/v1/sessions/s3"],
      ["GET", "/v1/sessions"],
    ] as const) {
      const { status } = await attempt.call(method, to, method === "GET" ? undefined : {});
      expect([method, to, status]).toEqual([method, to, 403]);
    }
    const claim = { agent: "demo", worker: "w", waitMs: 0 };
    for (const [who, body] of [
      [attempt, claim],
      [ana, claim],
      [agent, { ...claim, agent: "other" }],
    ] as const) {
      expect((await who.call("POST", "/v1/work/claim", body)).status).toBe(403);
    }
  });
});

test("a page of another origin gets no token of this machine", async () => {
  await using house = await openHouse();
  using connection = connect(house.url, "none");
  const { host, port } = new URL(house.url);
  const ask = (headers: Record<string, string>) =>
    connection.ask({
      method: "POST",
      path: "/v1/dev/token",
      // What a form or a simple request of a page can send.
      headers: { "content-type": "text/plain", ...headers },
      body: '{"name":"eve"}',
    });
  const strange: Record<string, string>[] = [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "file://" },
    { origin: `https://${host}` },
    { origin: "http://127.0.0.1:1" },
    { origin: `http://localhost:${port}` }, // the page's own name must be the one it asks
    { origin: `http://${host}.evil.example` },
    { host: "evil.example", origin: "http://evil.example" }, // a name that was made to lead here
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
    { host: `127.0.0.1.evil.example:${port}` },
    { host: `localhost.evil.example:${port}` },
    { host: `0.0.0.0:${port}` },
    { host: `localhost.:${port}` },
  ];
  for (const headers of strange) {
    const answer = await ask(headers);
    expect([headers, answer.code]).toEqual([headers, "forbidden"]);
    expect(Object.keys(answer.headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  }
  for (const headers of [
    {},
    { origin: house.url },
    { host: `LOCALHOST:${port}` },
    { host: `[::1]:${port}` },
  ]) {
    expect((await ask(headers as Record<string, string>)).status).toBe(200);
  }
});

test("without a secret, or in development, nothing but this machine is listened on", async () => {
  await using storage = memoryStorage();
  for (const options of [{}, { dev: true, secret }, { dev: false }]) {
    await using server = createServer({ storage, ...options });
    for (const hostname of [
      "0.0.0.0",
      "::",
      "",
      "192.0.2.1",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
    ]) {
      await expect(server.listen({ hostname })).rejects.toThrow(/Refusing to listen/);
    }
  }
  await using server = createServer({ storage, secret });
  const { url } = await server.listen();
  await expect(devToken(url, { name: "eve" })).rejects.toThrow(/404/); // only in development
});
