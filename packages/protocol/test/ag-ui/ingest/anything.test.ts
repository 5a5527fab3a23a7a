import {
  agUiInput,
  createAgUiEncoder,
  createAgUiReader,
  enforceAgUiInput,
  readAgUi,
  restoreAgUi,
  saveAgUi,
} from "@holdfast/protocol/ag-ui";
import { parseCommand } from "@holdfast/protocol/schemas";
import fc from "fast-check";
import { expect, it } from "vitest";
import { anyEvent, runStarted } from "../streams.ts";
import { session } from "./support.ts";

const numRuns = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 150);

/** A stream that begins a run, and of anything that may follow what is legal, now and then what is not. */
const stream = fc
  .tuple(
    runStarted,
    fc.array(fc.record({ event: anyEvent, daring: fc.nat(99) }), { maxLength: 80, size: "max" }),
  )
  .map(([start, more]) => {
    const events: object[] = [start];
    let reader = createAgUiReader();
    readAgUi(reader, start);
    for (const { event, daring } of more) {
      const before = saveAgUi(reader);
      if (!readAgUi(reader, event).violation || daring === 99) events.push(event);
      else reader = restoreAgUi(before);
    }
    return events;
  });

/** Names that no session gives a meaning, and some that it does, with what a third party may put there. */
const strange = fc.record({
  key: fc.constantFrom(
    "shade",
    "name",
    "code",
    "steers",
    "redacted",
    "claimId",
    "expiresAt",
    "role",
  ),
  value: fc.constantFrom<unknown>(5, "x", null, [1], { a: 1 }, true),
  hints: fc.option(
    fc.constantFrom<unknown>(
      "x",
      null,
      { executor: "client" },
      { executor: 7 },
      { deadlineAt: "soon" },
      { providerCallId: "" },
      { argumentsEncoding: "zip", executor: "provider" },
    ),
    { nil: undefined },
  ),
});

it("12.5.3 whatever an agent says, what is appended is what a server takes", () => {
  const said = fc.tuple(anyEvent, fc.option(strange, { nil: undefined })).map(([event, odd]) => {
    if (!odd || odd.key in event) return event;
    const metadata = odd.hints === undefined ? {} : { metadata: { holdfast: odd.hints, a: 1 } };
    return { ...event, ...metadata, [odd.key]: odd.value };
  });
  let count = 0;
  fc.assert(
    fc.property(fc.array(said, { maxLength: 60, size: "max" }), (events) => {
      const encoder = createAgUiEncoder({ runId: "r1", attempt: 1 });
      const reader = createAgUiReader();
      const begun = { type: "RUN_STARTED", threadId: "t", runId: "r" };
      for (const event of [begun, ...events]) {
        const before = saveAgUi(reader);
        if (readAgUi(reader, event).violation) {
          Object.assign(reader, restoreAgUi(before));
          continue;
        }
        const items = encoder.encode(event);
        count += items.length;
        const fence = { runId: "r1", attempt: 1, producer: "p", seq: 1 };
        const append = { id: "a", type: "run.append", ...fence, items };
        expect(parseCommand(JSON.parse(JSON.stringify(append)))).toBeDefined();
      }
    }),
    { numRuns },
  );
  expect(count).toBeGreaterThan(numRuns);
}, 120_000);

/** What a session may not take of a legal stream: what was said already, or of what is over. */
const REFUSED = new Set(["already_answered", "call_settled"]);

it("12.5 whatever an agent says is taken, and leaves a history that an agent can be asked with", () => {
  fc.assert(
    fc.property(stream, fc.boolean(), (events, clients) => {
      const made = session(clients ? { clientTools: ["a", "b"] } : {});
      const { desk, runId } = made;
      const { threadId, runId: asked } = events[0] as { threadId: string; runId: string };
      const given = { ...agUiInput(desk.state, { runId }).input, threadId, runId: asked };
      const { skipped, encoder } = made.stream(events, { input: given });
      const odd = skipped.filter(({ error }) => !REFUSED.has(error.code));
      expect(odd).toEqual([]);
      const run = desk.run(runId);
      if (run.status === "active") {
        if (encoder.failure) made.agent().fail();
        else made.agent().finish();
      }
      const { input } = agUiInput(desk.state, { runId });
      expect(enforceAgUiInput(JSON.parse(JSON.stringify(input))).violation).toBeUndefined();
      const ids = input.messages.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const calls = input.messages.flatMap((it) =>
        it.role === "assistant" ? (it.toolCalls ?? []) : [],
      );
      const told = input.messages.flatMap((it) => (it.role === "tool" ? [it.toolCallId] : []));
      expect(told.toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
    }),
    { numRuns },
  );
}, 120_000);
