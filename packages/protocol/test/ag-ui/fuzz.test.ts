import {
  createAgUiReader,
  createVerifyState,
  endAgUi,
  enforceAgUiEvent,
  readAgUi,
  restoreAgUi,
  saveAgUi,
  verifyAgUi,
  type AgUiReader,
  type AgUiReading,
} from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fold, judge, judgeOne } from "./oracle.ts";
import { anyEvent, oddKey, oddValue, runStarted } from "./streams.ts";

const numRuns = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 300);
const timeout = 10_000 + numRuns * 100;

// The client says at length what it makes of unlikely streams.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

/**
 * Candidates for a stream, each with how daring to be. One that is illegal is left out unless daring enough, so that
 * streams get far; for rules that random events break all the time, it takes more.
 */
const candidates = fc.array(fc.record({ event: anyEvent, daring: fc.nat(99) }), {
  minLength: 5,
  maxLength: 60,
  size: "max",
});
const FREQUENT = ["V8", "X1", "V1", "V2", "V4"];
const stream = fc.tuple(runStarted, candidates).map(([start, more]) => {
  const events: object[] = [start];
  let reader = createAgUiReader();
  readAgUi(reader, start);
  for (const { event, daring } of more) {
    const before = saveAgUi(reader);
    let taken: object = event;
    let { violation } = readAgUi(reader, taken);
    const isTaken = !violation || daring >= (FREQUENT.includes(violation.rule) ? 99 : 90);
    if (!isTaken) {
      reader = restoreAgUi(before);
      taken = aimed(event, reader, daring);
      ({ violation } = readAgUi(reader, taken));
      if (violation) {
        reader = restoreAgUi(before);
        continue;
      }
    }
    events.push(taken);
    if (violation) break;
  }
  return events;
});

/** The same event about something that is open, where it was about nothing. */
function aimed(event: Record<string, unknown>, { verify }: AgUiReader, at: number): object {
  const { texts, reasonings, spans, calls, steps, subagents } = verify.open;
  const pick = <T>(all: Iterable<T>): T | undefined => {
    // Each side makes up ids of its own for THINKING_* events, which no other event can name.
    const list = [...all].filter((it) => !String(it).startsWith("thinking:"));
    return list[at % list.length];
  };
  const { subagentRunId: _, ...rest } = event;
  switch (event["type"]) {
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
      return { ...rest, messageId: pick(texts) };
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return { ...rest, toolCallId: pick(calls) };
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
      return { ...rest, messageId: pick(reasonings) };
    case "REASONING_END":
      return { ...rest, messageId: pick(spans) };
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return { ...rest, subagentRunId: pick(subagents) };
    case "STEP_FINISHED": {
      const [owner, names] = pick(steps) ?? [undefined, []];
      const tag = owner === undefined ? {} : { subagentRunId: owner };
      return { ...rest, stepName: pick(names), ...tag };
    }
    default:
      return rest;
  }
}

/** Nothing is left out: most end early, and also before their first RUN_STARTED. */
const wildStream = fc.array(anyEvent, { minLength: 1, maxLength: 12 });

test(
  "random streams get the published client's verdict at the same event, and its events",
  { timeout },
  () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: stream }, wildStream), (events) => {
        const theirs = judge(events);
        const reader = createAgUiReader();
        for (const [at, event] of events.entries()) {
          const { events: ours, violation } = readAgUi(reader, event);
          count(seen, violation?.rule ?? "none");
          const failed = theirs.failed?.at === at ? theirs.failed : undefined;
          if (violation?.rule.startsWith("D") === true) {
            // What the client does not check: each of these has a test of its own.
            expect(failed).toBeUndefined();
            return;
          }
          expect(violation === undefined, `${failed?.message} / ${violation?.message}`).toBe(
            failed === undefined,
          );
          expect(plain(ours)).toEqual(plain(theirs.events[at]));
          if (!violation) continue;
          if (violation.rule !== "E1") {
            expect(plain(violation.message)).toBe(plain(failed?.message));
          }
          expect(violation.index).toBe(at);
          return;
        }
      }),
      { numRuns },
    );
    // A fuzz that only meets the easy rules shows nothing.
    if (numRuns >= 1000) {
      for (const rule of ["none", "X1", "V8", "V10", "V12", "V15"]) {
        expect([rule, (seen.get(rule) ?? 0) > 0]).toEqual([rule, true]);
      }
    }
    if (process.env["HOLDFAST_FUZZ_RUNS"] !== undefined) console.log(seen);
  },
);

test("an event that breaks a V rule changes nothing", { timeout }, () => {
  fc.assert(
    fc.property(fc.oneof(stream, wildStream), (events) => {
      const state = createVerifyState();
      for (const event of events) {
        const { value } = enforceAgUiEvent(event);
        // What is expanded is several events.
        if (!value || value.type.endsWith("_CHUNK")) continue;
        const copy = structuredClone(state);
        const violation = verifyAgUi(state, value, []);
        if (violation?.rule === "V3") copy.phase = "early";
        if (violation?.rule.startsWith("V") === true) expect(state).toEqual(copy);
      }
    }),
    { numRuns },
  );
});

/** What may be known from outside, or not. */
const options = fc.record(
  {
    threadId: fc.constantFrom("t", "u"),
    runId: fc.constant("r"),
    frontendTools: fc.subarray(["look", "send"]),
    strict: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("a reader that was saved and restored at every event goes on alike", { timeout }, () => {
  fc.assert(
    fc.property(fc.oneof(stream, wildStream), options, (events, known) => {
      const whole = createAgUiReader(known);
      let resumed = createAgUiReader(known);
      for (const event of events) {
        resumed = restoreAgUi(JSON.parse(JSON.stringify(saveAgUi(resumed))));
        expect(readAgUi(resumed, event)).toEqual(readAgUi(whole, event));
      }
      expect(resumed).toEqual(whole);
      expect(endAgUi(resumed)).toEqual(endAgUi(whole));
    }),
    { numRuns },
  );
});

test(
  "a stock agent's messages and state are the same of a stream as of what was read of it",
  {
    timeout,
  },
  async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (events) => {
        const reader = createAgUiReader();
        const raw: object[] = [];
        const read: object[] = [];
        for (const event of events) {
          const reading = readAgUi(reader, event);
          if (reading.violation) break;
          raw.push(event);
          read.push(...reading.events);
        }
        expect(plain(await fold(read))).toEqual(plain(await fold(raw)));
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  },
);

test("random single events are enforced as the published client does it", { timeout }, () => {
  const mutation = fc.record({
    event: fc.oneof(runStarted, anyEvent),
    /** Which of the places in it, and what is put there. */
    place: fc.nat(1000),
    value: oddValue,
    key: fc.option(oddKey, { nil: undefined }),
  });
  fc.assert(
    fc.property(mutation, ({ event, place, value, key }) => {
      const mutated = mutate(event, place, value, key);
      const theirs = judgeOne(mutated);
      const before = structuredClone(mutated);
      const { value: ours, violation } = enforceAgUiEvent(mutated);
      expect(mutated).toEqual(before);
      expect(violation === undefined, violation?.message).toBe(theirs.message === undefined);
      if (!violation) expect(plain(ours)).toEqual(plain(theirs.event));
    }),
    { numRuns: numRuns * 3 },
  );
});

test("whatever was read before, a reader takes any JSON without failing", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.jsonValue(), anyEvent), { maxLength: 8 }), (values) => {
      const reader: AgUiReader = createAgUiReader({ strict: true });
      for (const value of values) {
        const { events, warnings }: AgUiReading = readAgUi(reader, value);
        expect([events, warnings].every(Array.isArray)).toBe(true);
      }
    }),
    { numRuns },
  );
});

/** As JSON, with the ids that either side made up counted. */
function plain(value: unknown): unknown {
  const text = value === undefined ? "null" : JSON.stringify(value);
  const made = /thinking:[^:"]*:\d+|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
  const ids: string[] = [];
  const counted = text.replaceAll(made, (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `made-${ids.indexOf(id)}`;
  });
  return JSON.parse(counted) as unknown;
}

function count(seen: Map<string, number>, rule: string): void {
  seen.set(rule, (seen.get(rule) ?? 0) + 1);
}

/** A copy with one value replaced, or one property more, somewhere. `type` stays, so that it has a schema. */
function mutate(event: object, place: number, value: unknown, key: string | undefined): object {
  const copy = structuredClone(event) as Record<string, unknown>;
  const places: (() => void)[] = [];
  const visit = (node: unknown) => {
    if (typeof node !== "object" || node === null) return;
    const holder = node as Record<string, unknown>;
    // The client takes what is called `__proto__` of an operation, whose members are open, for its prototype.
    const isLost = key === "__proto__" && Object.hasOwn(holder, "op");
    if (key !== undefined && !Array.isArray(node) && !isLost) {
      places.push(() => define(holder, key, value));
    }
    for (const name of Object.keys(holder)) {
      if (node !== copy || name !== "type") {
        if (key === undefined) places.push(() => define(holder, name, value));
        visit(holder[name]);
      }
    }
  };
  visit(copy);
  places[place % places.length]?.();
  return copy;
}

function define(holder: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
