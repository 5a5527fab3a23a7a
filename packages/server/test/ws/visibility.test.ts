import { expect, test } from "vitest";
import type { Grant } from "../../src/index.ts";
import { openSecrets, SECRET, type Secrets } from "../http/secrets.ts";
import { rawSocket, type TestSocket } from "../support/socket.ts";

async function open({ url }: Secrets, token: string): Promise<TestSocket> {
  const socket = await rawSocket(url);
  expect(await socket.ask({ type: "auth", token })).toMatchObject({ type: "ready" });
  return socket;
}

test("7.5 a socket shows what its token lets its reader see, live and from the log", async () => {
  await using secrets = await openSecrets();
  const { guest, root, tell, state } = secrets;
  await using blind = await open(secrets, guest);
  await using all = await open(secrets, root);
  for (const socket of [blind, all])
    await socket.ask({ type: "subscribe", session: "s", state: true });
  await tell();
  const last = (await state(root)).offset;
  await using late = await open(secrets, guest);
  await late.ask({ type: "subscribe", session: "s" });
  for (const socket of [blind, all, late])
    await socket.find((frame) => JSON.stringify(frame).includes(last));
  expect(JSON.stringify(all.heard)).toContain(SECRET);
  for (const socket of [blind, late]) {
    const heard = JSON.stringify(socket.heard);
    expect(heard).toContain("TOOL_CALL_ARGS");
    expect(heard).not.toContain(SECRET);
  }
});

test("7.7 a socket's cursor of another visibility is a reset", async () => {
  await using secrets = await openSecrets();
  const { ana, root, tell, state } = secrets;
  await tell();
  const { offset, visibility } = await state(ana);
  const follow = async (token: string, after: string) => {
    await using socket = await open(secrets, token);
    await socket.ask({ type: "subscribe", session: "s", after });
    await socket.ask({ type: "ping" });
    return socket.heard.find(({ type }) => type === "reset");
  };
  expect(await follow(ana, `${offset}~${visibility}`)).toBeUndefined();
  expect(await follow(root, offset)).toBeUndefined();
  expect(await follow(ana, offset)).toMatchObject({ offset, visibility });
  expect(await follow(root, `${offset}~${visibility}`)).toMatchObject({ offset });
});

test("7.7 a fresh token that shows more, or less, begins what is followed anew, and shows no half of either", async () => {
  await using secrets = await openSecrets();
  const { server, root, tell, state } = secrets;
  const mint = (verbs: Grant["verbs"]) => server.mint("user:root", [{ sessions: "*", verbs }]);
  const blind = await mint(["read"]);
  await using socket = await open(secrets, root);
  const told = await socket.ask({ type: "subscribe", session: "s" });
  expect(told).toEqual({ type: "subscribed", session: "s", ref: 2 });
  await socket.ask({ type: "auth", token: blind });
  const less = await socket.find(({ type }) => type === "reset");
  expect(less).toMatchObject({ session: "s", visibility: expect.any(String) });
  expect(less).not.toHaveProperty("runId");
  await tell();
  const last = (await state(root)).offset;
  await socket.find((frame) => JSON.stringify(frame).includes(last));
  const since = () => socket.heard.slice(socket.heard.indexOf(less));
  expect(JSON.stringify(since())).not.toContain(SECRET);
  for (const frame of since().filter(({ type }) => type === "entries"))
    expect(frame).toMatchObject({ visibility: less["visibility"] });

  await socket.ask({ type: "auth", token: await mint(["read"]) });
  await socket.ask({ type: "auth", token: await mint(["read", "data"]) });
  const more = await socket.find((frame) => frame.type === "reset" && frame !== less);
  expect(more).toMatchObject({ offset: last });
  expect(more).not.toHaveProperty("visibility");
  expect(JSON.stringify(more)).toContain(SECRET);
  expect(socket.heard.filter(({ type }) => type === "reset")).toHaveLength(2);
  expect(socket.heard.filter(({ type }) => type === "unsubscribed")).toEqual([]);
  expect(await socket.ask({ type: "unsubscribe", session: "s" })).toMatchObject({
    type: "unsubscribed",
  });
});

test("7.7 a session followed under two rights says of each frame which of them may see it", async () => {
  await using secrets = await openSecrets();
  const { url, root, server, command } = secrets;
  const verbs = ["read", "send", "agent:demo"] as const;
  const token = await server.mint("user:root", [{ sessions: "*", verbs }]);
  const claim = await fetch(`${url}/v1/work/claim`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ agent: "demo", worker: "w" }),
  });
  const { work } = (await claim.json()) as { work: { token: string; runId: string } };
  await using socket = await open(secrets, token);
  await socket.ask({ type: "attempt", token: work.token });
  const own = await socket.ask({ type: "subscribe", session: "s", state: true });
  expect(own).toMatchObject({ visibility: expect.any(String) });
  const named = { session: "s", runId: work.runId, attempt: 1, state: true };
  const all = await socket.ask({ type: "subscribe", ...named });
  expect(all).not.toHaveProperty("visibility");
  const { offset } = await command(
    { type: "message.send", messageId: "m2", content: "more" },
    root,
  );
  const has = (visibility: unknown) => (frame: Record<string, unknown>) =>
    frame["type"] === "entries" &&
    frame["visibility"] === visibility &&
    JSON.stringify(frame).includes(String(offset));
  await socket.find(has(own["visibility"]));
  await socket.find(has(undefined));
});
