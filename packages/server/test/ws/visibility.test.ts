import { expect, test } from "vitest";
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
