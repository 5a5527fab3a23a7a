import { expect, test } from "vitest";
import { historyOf, inputsIn, resultIn, resultsOf } from "./history.ts";
import { answerTo, openHouse, proposal } from "./support.ts";

test("C94: arguments that break off are an error the model sees; the run goes on and the text is kept", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append(
    { type: "round.open" },
    ...proposal("c1", "location", '{"a":'),
    ...proposal("c2", "weather", '{"a":'),
    ...proposal("c3", "weather", "{}"),
    answerTo("c3", "sunny"),
    { type: "round.close" },
  );
  expect((await attempt.append({ type: "round.open" })).status).toBe("applied");
  const { calls, runs } = await house.state();
  for (const id of ["c1", "c2"])
    expect(calls.get(id)).toMatchObject({
      status: "settled",
      outcome: "error",
      reason: "invalid_arguments",
      arguments: '{"a":',
    });
  expect(calls.get("c3")?.outcome).toBe("ok");
  expect(runs.get(attempt.work.runId)?.status).toBe("active");
  const history = await historyOf(house, attempt.work.runId);
  expect(resultsOf(history)).toEqual(["c1", "c2", "c3"]);
  for (const id of ["c1", "c2"])
    expect(JSON.stringify(resultIn(history, id))).toMatch(/"type":"error-\w+".*JSON/);
});

test("C96: no arguments at all are an empty object", async () => {
  await using house = await openHouse();
  await house.send("go");
  const none = { type: "object", additionalProperties: false };
  const tools = [
    { name: "now", executor: "client", parameters: none },
    { name: "where", executor: "client", parameters: { ...none, required: ["city"] } },
  ];
  const attempt = await house.attempt({ tools });
  await attempt.append(
    { type: "round.open" },
    ...proposal("c1", "now", ""),
    ...proposal("c2", "now"),
    ...proposal("c3", "where", ""), // an object, but not the one that is wanted
    { type: "round.close" },
  );
  const { calls } = await house.state();
  for (const id of ["c1", "c2"])
    expect(calls.get(id)).toMatchObject({ status: "open", arguments: "" });
  expect(calls.get("c3")).toMatchObject({ reason: "invalid_arguments", arguments: "" });
  expect(calls.get("c3")?.message).toContain("city");
  expect(inputsIn(await historyOf(house, attempt.work.runId))).toEqual([{}, {}, {}]);
});

test("C97, C98: calls stream side by side, with text between their pieces", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  const verdict = await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "weather" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"city":' },
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "weather" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "Both." },
    { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: '{"city":"Rome"}' },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '"Oslo"}' },
    { type: "TEXT_MESSAGE_END", messageId: "t1" },
    { type: "TOOL_CALL_END", toolCallId: "c2" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  );
  expect(verdict).toMatchObject({ status: "applied" });
  expect(verdict.skipped).toBeUndefined();
  const state = await house.state();
  expect(state.calls.get("c1")?.arguments).toBe('{"city":"Oslo"}');
  expect(state.calls.get("c2")?.arguments).toBe('{"city":"Rome"}');
  expect(state.items.get("t1")).toMatchObject({ text: "Both." });
});

test("C105: arguments of 50 KB in tiny pieces cost their length, not its square", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  const text = JSON.stringify({ text: "x".repeat(50_000) });
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "weather" },
  );
  for (let at = 0; at < text.length; at += 2_000) {
    const pieces = text.slice(at, at + 2_000).match(/.{1,4}/gs) ?? [];
    await attempt.append(
      ...pieces.map((delta) => ({ type: "TOOL_CALL_ARGS" as const, toolCallId: "c1", delta })),
    );
  }
  const entries = await house.ana.entries(house.session);
  const pieces = entries.filter(({ event }) => event.type === "TOOL_CALL_ARGS");
  // Each batch's pieces became one entry, and together they say the text once.
  expect(pieces).toHaveLength(Math.ceil(text.length / 2_000));
  expect(
    pieces.map(({ event }) => (event.type === "TOOL_CALL_ARGS" ? event.delta : "")).join(""),
  ).toBe(text);
  expect((await house.state()).calls.get("c1")?.arguments).toBe(text);
});
