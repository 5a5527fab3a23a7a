import { connect } from "node:net";
import { expect, it } from "vitest";
import { call, eventsIn, openStage, PAGE, post, round, text, user, type Stage } from "./stage.ts";

const CONNECT = "/v1/sessions/s1/ag-ui/connect";
const input = (runId: string) => ({
  threadId: "s1",
  runId,
  messages: [user(`m-${runId}`, "go")],
  tools: [PAGE],
});

/** A run in the middle of a call that has a secret in it. */
async function midway(stage: Stage) {
  const response = await post(stage, input("r1"));
  const attempt = await stage.attempt([{ name: "look" }]);
  await attempt.append({ type: "round.open" }, ...call("c1", "look", '{"key":"secret"}'));
  await attempt.answer("c1", "secret too");
  await attempt.append(...text("a1", "x").slice(0, 1));
  return { response, attempt };
}

it("7.5 a reader who does not see a tool's data is told of its calls without it, and goes on so", async () => {
  await using stage = await openStage();
  const { response, attempt } = await midway(stage);
  const token = await stage.grant([{ sessions: "*", verbs: ["read"] }]);
  const headers = { authorization: `Bearer ${token}` };
  const joined = await post(stage, {}, headers, CONNECT);
  await attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: "y" });
  await attempt.append({ type: "TEXT_MESSAGE_END", messageId: "a1" });
  await attempt.finish();
  const told = await joined.text();
  expect(told).toContain('"name":"look"');
  expect(told).not.toContain("secret");
  expect(await response.text()).toContain("secret");
  const ids = eventsIn(told).flatMap(({ id }) => id ?? []);
  expect(ids.every((id) => id.includes("~"))).toBe(true);
});

it("7.7 a cursor is good for who sees the same, and for nobody else", async () => {
  await using stage = await openStage();
  const { attempt } = await midway(stage);
  const grants = [{ sessions: "*", verbs: ["read"] }] as const;
  const [mine, other] = [await stage.grant(grants), await stage.grant(grants, "user:other")];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const joined = await post(stage, {}, bearer(mine), CONNECT);
  const reader = joined.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes("TEXT_MESSAGE_START")) seen += (await reader?.read())?.value ?? "";
  await reader?.cancel();
  const id = eventsIn(seen).at(-1)?.id ?? "";
  const full = await post(stage, {}, { "last-event-id": id }, CONNECT);
  expect([full.status, await full.json()]).toMatchObject([409, { code: "reset" }]);
  const again = await post(stage, {}, { ...bearer(other), "last-event-id": id }, CONNECT);
  await attempt.append({ type: "TEXT_MESSAGE_END", messageId: "a1" });
  await attempt.finish();
  expect(eventsIn(await again.text()).map(({ data }) => data.type)).toEqual([
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

it("a stream ends with its token, and says that the run goes on", async () => {
  await using stage = await openStage();
  await midway(stage);
  const token = await stage.grant([{ sessions: "*", verbs: ["read"] }]);
  const joined = await post(stage, {}, { authorization: `Bearer ${token}` }, CONNECT);
  await stage.server.revoke({ principal: "user:some" });
  expect(eventsIn(await joined.text()).at(-1)?.data).toMatchObject({
    type: "RUN_ERROR",
    code: "unauthenticated",
  });
  expect((await stage.state()).runs).toMatchObject([{ status: "active" }]);
});

it("a reader who takes nothing is closed, and stalls nobody", async () => {
  await using stage = await openStage({ subscriberBytes: 200_000 });
  const { attempt } = await midway(stage);
  const { hostname, port } = new URL(stage.url);
  const socket = connect(Number(port), hostname);
  let closed = false;
  socket.on("close", () => (closed = true)).on("error", () => {});
  socket.write(
    `POST ${CONNECT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${stage.token()}\r\ncontent-length: 2\r\n\r\n{}`,
  );
  await new Promise((resolve) => socket.once("readable", resolve)); // connected, and then not a byte more
  const delta = "x".repeat(50_000);
  for (let sent = 0; sent < 400 && !closed; sent += 1) {
    await attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta });
    // The end of a connection is heard only by who reads: look without taking anything while it lives.
    if (sent > 100 && sent % 50 === 0) socket.resume().pause();
  }
  socket.resume();
  await expect.poll(() => closed).toBe(true);
  await attempt.append(...round(...text("a2", "after")));
  await attempt.finish();
});
