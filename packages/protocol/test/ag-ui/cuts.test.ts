import type { Entry, SessionState } from "@holdfast/protocol";
import {
  agUiMessages,
  agUiState,
  type AgUiEvent,
  type AgUiMessage,
  type Peer,
} from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import { createCoverage } from "../properties/coverage.ts";
import { eraser } from "../properties/eraser.ts";
import { choices, settings, walk } from "../properties/walk.ts";
import type { Desk } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { watch } from "./reader.ts";
import { enrich } from "./rich.ts";

/** How many sessions; more in a soak. */
const RUNS = Number(process.env["HOLDFAST_AG_UI_RUNS"] ?? 12);

afterEach(() => vi.restoreAllMocks());

it.each<Peer>(["1.0", "0"])(
  "11.4 whoever joins a thread, at any cut, ends with what was watched live: %s peers",
  { timeout: 600_000 },
  async (peer) => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const seen = new Set<string>();
    const property = fc.asyncProperty(
      choices(40),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (numbers, erasing, random) => {
        const entries = session(numbers, erasing);
        const cuts = [...random.take(6)].map((cut) => cut % (entries.length + 1));
        const { live, joined, state } = watch(entries, { peer, cuts });
        for (const event of live.flat()) seen.add(event.type);
        const end = await followed(live.flat(), peer, state);
        const list = agUiMessages(state, { peer });
        const target = copy(peer === "1.0" ? list : comparable(list, list));
        if (process.env["DEBUG_CUTS"] && JSON.stringify(target) !== JSON.stringify(end.messages))
          for (const [n, e] of entries.entries())
            console.log(
              n,
              JSON.stringify(e).slice(0, 300),
              "\n   ->",
              (live[n] ?? []).map((x) => JSON.stringify(x).slice(0, 1200)).join("\n   -> "),
            );
        expect(end.messages).toEqual(target);
        expect(end.state).toEqual(copy(agUiState(state) ?? {}));
        for (const [cut, events] of joined) {
          const there = await followed(events, peer, state);
          expect(there, `joined at ${cut}`).toEqual(end);
        }
      },
    );
    await fc.assert(property, settings(RUNS));
  },
);

/**
 * What a client holds. Before 1.0 a client gives up the last reasoning and activities it has for nothing, and moves none:
 * of them only those count that are in the thread, wherever they stand.
 */
async function followed(events: readonly AgUiEvent[], peer: Peer, state: SessionState) {
  const seen = await follow(events, { peer });
  return peer === "1.0"
    ? seen
    : { ...seen, messages: comparable(seen.messages, agUiMessages(state, { peer })) };
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

function session(numbers: readonly number[], erasing: boolean): Entry[] {
  const rich = enrich();
  const erase = eraser().onStep;
  const desk = walk(numbers, {
    coverage: createCoverage(),
    onStep(at) {
      rich(at);
      if (erasing) erase(at);
    },
  });
  return toRest(desk);
}

/** Ends what goes on and lets one more run begin and end, so that all there is was told. */
function toRest(desk: Desk): Entry[] {
  for (const runId of [...desk.state.index.live].toReversed())
    desk.user({ type: "run.cancel", runId });
  const runId = desk.send("last");
  desk.start(runId);
  desk.agent(runId).finish();
  return copy(desk.entries);
}
