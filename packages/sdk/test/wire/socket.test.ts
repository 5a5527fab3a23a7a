import { HoldfastError } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { createSocket } from "../../src/client/index.ts";
import { proposal } from "../../../protocol/test/support/desk.ts";
import type { Arrived } from "../../src/wire/arrived.ts";
import { realServer } from "../support/real-server.ts";
import { createSockets } from "../support/sockets.ts";
import { waitFor } from "../support/wait-for.ts";

const create = { agent: "demo" };
const never = new AbortController().signal;

test("a client's sessions speak and follow over one socket, across a restart of the server", async () => {
  await using server = await realServer();
  const sockets = createSockets();
  const token = () => server.mint("user:ana");
  const socket = createSocket({ url: server.url, token, webSocket: sockets.webSocket });
  const client = server.client("ana", { socket });
  const sessions = ["a", "b", "c"].map((id) => client.open(id, { create }));
  await Promise.all(sessions.map((session) => session.send("hello")));
  for (const session of sessions) await waitFor(() => expect(session.view()).toHaveLength(2));
  expect(sockets.made).toBe(1);
  await server.stop();
  await server.restart();
  const verdicts = await Promise.all(sessions.map((session) => session.send("again")));
  for (const [n, session] of sessions.entries()) {
    await session.reached(verdicts[n]?.offset ?? "");
    expect(JSON.stringify(session.view())).toContain("again");
  }
  expect(sockets.heard.filter(({ type }) => type === "reset")).toEqual([]);
  await client.close();
  socket.close();
  await waitFor(() => expect(sockets.open).toBe(0));
});

test("what is under way when the socket is lost is unreachable, and asked again it is answered", async () => {
  await using server = await realServer();
  const sockets = createSockets();
  const client = server.client("ana");
  await client.open("s", { create }).ready();
  const socket = createSocket({
    url: server.url,
    token: await server.mint("user:ana"),
    webSocket: sockets.webSocket,
  });
  const command = '{"id":"c","type":"message.send","messageId":"m","content":"x"}';
  sockets.lose(({ type }) => type === "verdicts");
  await expect(socket.commands("s", [command], never)).rejects.toMatchObject({
    code: "unreachable",
  });
  sockets.lose(() => false);
  expect(await socket.commands("s", [command], never)).toMatchObject([
    { status: "applied", repeated: true },
  ]);
  expect(sockets.made).toBe(2);
  socket.close();
  await expect(socket.commands("s", [command], never)).rejects.toMatchObject({ code: "closed" });
});

test("a token that the server refuses is its word, not a lost connection", async () => {
  await using server = await realServer();
  const socket = createSocket({ url: server.url, token: "nonsense" });
  await expect(socket.commands("s", [], never)).rejects.toMatchObject({ code: "unauthenticated" });
  const tokenless = createSocket({
    url: server.url,
    token: () => Promise.reject(new HoldfastError({ code: "forbidden", message: "no" })),
  });
  await expect(tokenless.commands("s", [], never)).rejects.toMatchObject({ code: "forbidden" });
});

test("a frame that the server would not take is refused here, and the socket lives on", async () => {
  await using server = await realServer();
  await server.client("ana").open("s", { create }).ready();
  const sockets = createSockets();
  const token = await server.mint("user:ana");
  const socket = createSocket({ url: server.url, token, webSocket: sockets.webSocket });
  const big = JSON.stringify({ id: "c", type: "message.send", content: "ä".repeat(9_000_000) });
  await expect(socket.commands("s", [big], never)).rejects.toMatchObject({ code: "too_large" });
  expect(await socket.commands("s", ["7"], never)).toMatchObject([{ status: "rejected" }]);
  expect(sockets.made).toBe(1);
  socket.close();
});

test("a session that nobody has, or may read, ends its follower and no other", async () => {
  await using server = await realServer();
  const socket = createSocket({ url: server.url, token: await server.mint("user:ana") });
  const client = server.client("ana", { socket });
  const good = client.open("good", { create });
  await good.ready();
  const none = client.open("none");
  await expect(none.ready()).rejects.toMatchObject({ code: "unknown_session" });
  const { offset } = await good.send("hello");
  await good.reached(offset);
  socket.close();
});

test("an aborted request is over at once, and a silent server is not waited for", async () => {
  await using server = await realServer();
  const sockets = createSockets();
  await server.client("ana").open("s", { create }).ready();
  const token = await server.mint("user:ana");
  const socket = createSocket({
    url: server.url,
    token,
    webSocket: sockets.webSocket,
    timeoutMs: 300,
    pingMs: 20,
  });
  const aborted = new AbortController();
  const asked = socket.commands("s", ["7"], aborted.signal);
  aborted.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
  expect(await socket.commands("s", ["7"], never)).toHaveLength(1);
  await waitFor(() => expect(sockets.heard.some(({ type }) => type === "pong")).toBe(true));
  socket.close();
});

test("7.7 a session that is followed under two rights gives each follower what its own right shows", async () => {
  await using server = await realServer();
  const verbs = ["read", "send", "agent:demo"] as const;
  const token = await server.mint("user:ana", [{ sessions: "*", verbs }]);
  const session = server.client("ana", { token }).open("s", { create });
  await session.send("hello");
  const socket = createSocket({ url: server.url, token });
  const claim = JSON.stringify({ agent: "demo", worker: "w" });
  const { runId, attempt, ...work } = (await socket.work(claim, 0, never)) as {
    runId: string;
    attempt: number;
    token: string;
  };
  const lane = socket.lane({ session: "s", runId, attempt, token: work.token });
  const over = new AbortController();
  const head = session.state.head;
  const until = async (frames: AsyncGenerator<Arrived>, word: string) => {
    for (let all = ""; ;) {
      all += JSON.stringify((await frames.next()).value);
      if (all.includes(word)) return all;
    }
  };
  const own = socket.subscribe("s", head, over.signal);
  const full = lane.subscribe("s", head, over.signal);
  await until(own, "reset");
  await until(full, "open");
  const items = [{ type: "round.open" }, ...proposal("c1", "pay", '{"n":"s3cret"}')];
  const batch = { id: "1", runId, attempt, producer: "p", seq: 1 };
  const append = { type: "run.append", ...batch, items: [...items, { type: "round.close" }] };
  await lane.append("s", JSON.stringify(append), batch, never);
  expect(await until(full, "call.opened")).toContain("s3cret");
  expect(await until(own, "call.opened")).not.toContain("s3cret");
  over.abort();
  socket.close();
});
