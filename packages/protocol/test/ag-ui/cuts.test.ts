import { reduce, reduceAll, type Entry, type SessionState } from "@holdfast/protocol";
import {
  agUiMessages,
  agUiState,
  createProjection,
  joinThread,
  resumesFrom,
  type AgUiEvent,
  type AgUiMessage,
  type Peer,
  type ProjectionOptions,
} from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { choices, settings } from "../properties/walk.ts";
import { copy, follow, type Seen } from "./client.ts";
import { emptyReader, optionsFor, watch } from "./reader.ts";
import { sessionOf } from "./rich.ts";

/** How many sessions each property is asked of; more in a soak. */
const RUNS = Number(process.env["HOLDFAST_AG_UI_RUNS"] ?? 8);

const warned = vi.fn<(message: string) => void>();
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(warned));
afterEach(() => {
  vi.restoreAllMocks();
  // Patches that do not apply are the agent's own. Anything else would be something a client had to strip or to mend.
  const others = warned.mock.calls.filter(
    ([it]) => !/^Failed to apply (?:state|activity) patch/.test(it),
  );
  expect(others).toEqual([]);
});

it.each<Peer>(["1.0", "0"])(
  "11.4 whoever joins a thread, at any cut, ends with what was watched live: peers of %s",
  { timeout: 900_000 },
  async (peer) => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(
      choices(40),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (numbers, erasing, random) => {
        const entries = sessionOf(numbers, { erasing });
        const cuts = [...random.take(4)].map((cut) => cut % (entries.length + 1));
        const sent = await expectSameEnd(entries, peer, cuts);
        for (const { type } of sent) seen.add(type);
      },
    );
    await fc.assert(property, settings(RUNS));
    // Of the 28 that are no chunks.
    expect(seen.size).toBeGreaterThanOrEqual(24);
  },
);

it("11.4 every cut of a session is one to join at", { timeout: 900_000 }, async () => {
  const property = fc.asyncProperty(choices(24), async (numbers) => {
    const entries = sessionOf(numbers, { erasing: false });
    const cuts = Array.from({ length: entries.length + 1 }, (_, cut) => cut);
    await expectSameEnd(entries, "1.0", cuts);
  });
  await fc.assert(property, settings(Math.ceil(RUNS / 8)));
});

it(
  "11.4 a reader has what was said as it is said, and all of it when a run ends",
  { timeout: 900_000 },
  async () => {
    const property = fc.asyncProperty(
      choices(40),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (numbers, erasing, random) => {
        const entries = sessionOf(numbers, { erasing });
        const { live, shown } = watch(entries);
        const ends = live.flatMap((events, at) => (events.some(isEnd) ? [at] : [])).slice(-2);
        const cuts = [...random.take(3)].map((cut) => cut % entries.length);
        for (const at of [...ends, ...cuts]) {
          const state = emptyReader();
          reduceAll(state, entries.slice(0, at + 1));
          const sent = live.slice(0, at + 1).flat();
          const seen = await follow(sent);
          const runId = shown[at];
          if (runId !== undefined) {
            const parentId = state.runs.get(runId)?.parentId ?? "";
            const before = agUiMessages(state, { runId: parentId });
            expectWords(seen, copy(agUiMessages(state, { runId })), before);
          }
          if (runId === undefined && isEnd(live[at]?.at(-1)))
            expectWhole(seen, copy(agUiMessages(state)));
        }
      },
    );
    await fc.assert(property, settings(RUNS));
  },
);

it(
  "11.4 a client that posts what it held, however old, ends with what was watched live",
  { timeout: 900_000 },
  async () => {
    const property = fc.asyncProperty(
      choices(40),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (numbers, erasing, random) => {
        const entries = sessionOf(numbers, { erasing });
        const { live, state } = watch(entries);
        const end = await follow(live.flat());
        const target = agUiMessages(state);
        for (const [n, at] of [...random.take(4)].entries()) {
          const cut = at % (entries.length - 4);
          const { messages, state: own } = await follow(live.slice(0, cut).flat());
          const posted = messages.filter(({ role }) => role !== "activity");
          const options = { ...optionsFor(), messages: posted, state: own };
          // It comes back later, joining or to be shown what begins next.
          const later = cut + ((at >> 3) % (entries.length - 3 - cut));
          const events = comingBack(entries, later, options, n % 2 === 0);
          const seen = await follow(events, { messages, state: own });
          expect(withoutActivities(seen.messages)).toEqual(withoutActivities(target));
          expect(seen.state).toEqual(end.state);
        }
      },
    );
    await fc.assert(property, settings(RUNS));
  },
);

function comingBack(
  entries: readonly Entry[],
  at: number,
  options: ProjectionOptions,
  joins: boolean,
): AgUiEvent[] {
  const state = emptyReader();
  reduceAll(state, entries.slice(0, at));
  const { prelude, projection } =
    joins || resumesFrom(state, options) !== undefined
      ? joinThread(state, { ...options, snapshot: false })
      : { prelude: [], projection: createProjection(options) };
  const tail = entries.slice(at).flatMap((entry) => {
    reduce(state, entry);
    return projection.project(entry, state);
  });
  return [...prelude, ...tail];
}

/** No client posts its activities, so that of those it alone knows which it has. */
function withoutActivities(messages: readonly AgUiMessage[]) {
  return copy(messages.filter(({ role }) => role !== "activity"));
}

function isEnd(event: AgUiEvent | undefined): boolean {
  return event?.type === "RUN_FINISHED" || event?.type === "RUN_ERROR";
}

/** All there is is told, but for messages of users that wait for their run. */
function expectWhole({ messages }: Seen, target: readonly AgUiMessage[]): void {
  const told = new Set(messages.map(({ id }) => id));
  expect(messages).toEqual(target.filter(({ id, role }) => role !== "user" || told.has(id)));
}

/**
 * What the reader was told, it was told right. Notes upon its calls may be still to come, and so may the word that something
 * is taken back: calls settle as superseded an entry before that.
 */
function expectWords(
  { messages }: Seen,
  target: readonly AgUiMessage[],
  before: readonly AgUiMessage[],
): void {
  // What ran beside it is told when its own run ends.
  const others = new Set(before.map(({ id }) => id));
  const calls = new Set(target.flatMap((message) => callsIn(message).map(({ id }) => id)));
  const words = (message: AgUiMessage) => ({
    ...message,
    toolCalls: callsIn(message).flatMap(({ metadata: _, ...call }) =>
      calls.has(call.id) ? [call] : [],
    ),
  });
  const known = new Map(messages.map((message) => [message.id, message]));
  for (const message of target) {
    const told = known.get(message.id);
    if (told) expect(words(told)).toEqual(words(message));
    else if (!others.has(message.id)) expect(["user", "tool"]).toContain(message.role);
  }
}

function callsIn(message: AgUiMessage) {
  return message.role === "assistant" ? (message.toolCalls ?? []) : [];
}

async function expectSameEnd(entries: readonly Entry[], peer: Peer, cuts: readonly number[]) {
  const { live, joined, state } = watch(entries, { peer, cuts });
  const end = await followed(live.flat(), peer, state);
  const list = agUiMessages(state, { peer });
  expect(end.messages).toEqual(copy(peer === "1.0" ? list : comparable(list, list)));
  expect(end.state).toEqual(copy(agUiState(state) ?? {}));
  for (const [cut, events] of joined)
    expect(await followed(events, peer, state), `joined at ${cut}`).toEqual(end);
  return live.flat();
}

/**
 * What a client holds. Before 1.0 a client gives up the last reasoning and activities it has for nothing, and moves none:
 * of them only those count that are in the thread, wherever they stand.
 */
async function followed(events: readonly AgUiEvent[], peer: Peer, state: SessionState) {
  const seen = await follow(events, { peer });
  if (peer === "1.0") return seen;
  return { ...seen, messages: comparable(seen.messages, agUiMessages(state, { peer })) };
}

function comparable(messages: readonly AgUiMessage[], target: readonly AgUiMessage[]) {
  const isSet = ({ role }: AgUiMessage) => role === "reasoning" || role === "activity";
  const known = new Set(target.map(({ id }) => id));
  const set = messages.filter((it) => isSet(it) && known.has(it.id));
  return [
    ...messages.filter((it) => !isSet(it)),
    ...set.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ];
}
