import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock, until } from "../support/clock.ts";
import { startRun, startServer } from "../support/http.ts";
import { agentSocket, openSocket } from "../support/socket.ts";

const HOUR = 3_600_000;

test.each([
  ["a person", 0],
  ["an agent", 1],
])("%s who follows a session over a socket: %i are told that a call waits", async (who, told) => {
  const clock = new ManualClock();
  const sent: unknown[] = [];
  await using server = await startServer({
    storage: memoryStorage({ now: clock.now }),
    schedule: clock.schedule,
    sseHeartbeatMs: HOUR,
    leaseMs: HOUR,
    webhooks: {
      notify: {
        url: "http://people.test/",
        secret: `whsec_${Buffer.alloc(32).toString("base64")}`,
      },
      async fetch(input, init) {
        sent.push(await new Request(input, init).json());
        return new Response(null, { status: 204 });
      },
    },
  });
  const work = await startRun(server);
  const { socket: agent, append } = await agentSocket(server, work);
  await using _ = agent;
  const isPerson = who === "a person";
  await using reader = isPerson
    ? await openSocket(server)
    : (await agentSocket(server, work)).socket;
  const { session, runId, attempt } = work;
  const under = isPerson ? {} : { runId, attempt };
  expect(await reader.ask({ type: "subscribe", session, ...under })).toMatchObject({
    type: "subscribed",
  });
  append([
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pay" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "call.ask", callId: "c1" },
    { type: "round.close" },
  ]);
  await agent.find(({ type }) => type === "ack");
  await clock.advance(20_000);
  expect(sent).toHaveLength(told);
  await reader[Symbol.asyncDispose]();
  await until("it is told of once nobody is there", async () => {
    await clock.advance(16_000);
    return sent.length > 0;
  });
  expect(sent).toHaveLength(1);
});
