import { fromRows, type SessionState } from "@holdfast/protocol";
import { agUiMessages, agUiState, type AgUiMessage, type Peer } from "@holdfast/protocol/ag-ui";
import type { RunAgentInput } from "@ag-ui/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { copy } from "../../../../protocol/test/ag-ui/client.ts";
import { asOf, ask, eventIn, join, read, stitched, type Reader, type Seen } from "./readers.ts";
import { openStage, PAGE, type Stage } from "./stage.ts";
import { createWanderer, picks } from "./wander.ts";

/** How many sessions; more in a soak. */
const RUNS = Number(process.env["HOLDFAST_AG_UI_RUNS"] ?? 2);
const SEED = Number(process.env["HOLDFAST_SEED"] ?? 20_270_101);
const TURNS = 3;
const STEPS = 18;
const PEERS: readonly Peer[] = ["1.0", "0"];
const NOTHING: Seen = { messages: [], state: {} };

const warned = vi.fn<(message: string) => void>();
beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(warned);
  // Clients say there that they were refused.
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
  // Patches that do not apply are the agent's own. Anything else would be something a client had to strip or to mend.
  const others = warned.mock.calls.filter(
    ([it]) => !/^Failed to apply (?:state|activity) patch/.test(it),
  );
  expect(others).toEqual([]);
});

/** A stream that somebody reads undisturbed, and that others go on with behind each of its events. */
interface Source {
  readonly peer: Peer;
  readonly verb: "" | "/connect";
  readonly body: object;
  readonly holding: Seen;
  readonly reader: Reader;
  /** Behind how many of its frames somebody went on. */
  resumed: number;
}

/** Somebody who came late, and whose equal it must be in the end. */
interface Late {
  readonly what: "joined" | "resumed" | "came back";
  readonly behind?: string;
  readonly peer: Peer;
  readonly reader: Reader;
  readonly like: Reader;
}

const types = new Set<unknown>();
const count = { joined: 0, resumed: 0, "came back": 0 };

it.each(Array.from({ length: RUNS }, (_, n) => SEED + n))(
  "11.4 whoever joins or resumes a session, at any event, ends with what an undisturbed client holds: session %i",
  { timeout: 900_000 },
  async (seed) => {
    await using stage = await openStage({ leaseMs: 600_000 });
    const wanderer = createWanderer(stage, picks(seed), { isCalm: seed % 2 === 1 });
    let ana = NOTHING;
    let last: readonly string[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const posted = await post(stage, ana, last, turn);
      const { reader } = posted;
      if ((await reader.placed) !== 200) {
        // What waits for somebody else goes first; a page would say so.
        await expect(reader.ended).rejects.toThrow("calls_pending");
        await stage.ask("POST", "/v1/sessions/s1/ag-ui/stop", {});
        last = [];
        continue;
      }
      const sources = await readAll(stage, posted);
      const late: Late[] = [];
      const at = async () => {
        for (const source of sources) late.push(...(await comeLate(stage, source, sources)));
        for (const it of late) await it.reader.placed;
      };
      for (let steps = 0; steps < STEPS; steps += 1) {
        // Some read undisturbed from the middle on.
        if (steps === STEPS / 3) sources.push(...(await joinBoth(stage)));
        await at();
        if (!(await wanderer.act())) break;
      }
      await wanderer.rest(at);
      for (const source of sources) await source.reader.ended;
      await at();

      const state = await stateOf(stage);
      for (const { peer, reader: own, verb } of sources) {
        for (const frame of own.frames) types.add(eventIn(frame)?.data["type"]);
        if (verb === "") continue;
        const { messages, state: told } = await own.ended;
        const target = copy(agUiMessages(state, { peer }));
        expect(comparable(messages, state, peer)).toEqual(comparable(target, state, peer));
        expect(told).toEqual(copy(agUiState(state) ?? {}));
      }
      for (const [n, { what, behind, peer, reader: one, like }] of late.entries()) {
        count[what] += 1;
        const held = ({ messages, ...rest }: Seen) => ({
          ...rest,
          messages: comparable(messages, state, peer, what === "came back"),
        });
        const name = `turn ${turn}, client ${n} of ${peer}: ${what} ${behind ?? ""}`;
        expect(held(await one.ended), name).toEqual(held(await like.ended));
      }
      ana = await reader.ended;
      last = reader.frames;
    }
  },
);

it("11.4 that was much, and of many kinds", () => {
  expect(types.size).toBeGreaterThan(18);
  expect(Math.min(...Object.values(count))).toBeGreaterThan(50);
});

/** What a client of the page does next: it resumes, answers, or says something. */
async function post(stage: Stage, ana: Seen, last: readonly string[], turn: number) {
  const outcome = last
    .map((frame) => eventIn(frame)?.data)
    .findLast((event) => event?.["type"] === "RUN_FINISHED")?.["outcome"] as
    | { interrupts?: { id: string }[]; pendingToolCallIds?: string[] }
    | undefined;
  const resume = outcome?.interrupts?.map(({ id }) => ({
    interruptId: id,
    status: "resolved" as const,
    payload: { approved: true },
  }));
  const calls = outcome?.pendingToolCallIds ?? [];
  const answers = calls.map((id): AgUiMessage => {
    return { id: `t-${id}`, role: "tool", toolCallId: id, content: "From ana" };
  });
  const isNew = answers.length === 0 && !resume;
  const said: AgUiMessage[] = isNew
    ? [{ id: `u${turn}`, role: "user", content: "Go on." }]
    : answers;
  const holding: Seen = { messages: [...ana.messages, ...said], state: ana.state };
  const body = Promise.withResolvers<RunAgentInput>();
  const reader = read(
    "1.0",
    (input) => {
      body.resolve(input);
      return ask(stage, "", input);
    },
    { holding, asking: { runId: `r${turn}`, tools: [PAGE], ...(resume && { resume }) } },
  );
  return { body: await body.promise, holding, reader };
}

/** All who read a turn undisturbed: who posted, and who joined, of both versions. */
async function readAll(
  stage: Stage,
  { body, holding, reader: own }: Awaited<ReturnType<typeof post>>,
): Promise<Source[]> {
  const sources: Source[] = [{ peer: "1.0", verb: "", body, holding, reader: own, resumed: 0 }];
  const old = asOf("0", body);
  const other = read("0", () => ask(stage, "", old), { holding });
  sources.push({ peer: "0", verb: "", body: old, holding, reader: other, resumed: 0 });
  await other.placed;
  return [...sources, ...(await joinBoth(stage))];
}

async function joinBoth(stage: Stage): Promise<Source[]> {
  const joined = PEERS.map((peer): Source => {
    const body = peer === "0" ? {} : { protocolVersion: "1.0" };
    const reader = join(stage, peer);
    return { peer, verb: "/connect", body, holding: NOTHING, reader, resumed: 0 };
  });
  for (const { reader } of joined) await reader.placed;
  return joined;
}

/** Somebody joins, and somebody goes on behind each event that came since the last time. */
async function comeLate(stage: Stage, source: Source, sources: readonly Source[]): Promise<Late[]> {
  const { peer, verb, body, holding, reader } = source;
  const late: Late[] = [];
  if (verb === "/connect")
    late.push({ what: "joined", peer, reader: join(stage, peer), like: reader });
  for (; source.resumed < reader.frames.length; source.resumed += 1) {
    const frames = reader.frames.slice(0, source.resumed + 1);
    const { id, data } = eventIn(frames.at(-1) ?? "") ?? {};
    if (id === undefined) continue;
    const behind = `${verb} behind ${String(data?.["type"])}`;
    const rest = await ask(stage, verb, body, id);
    if (rest.status === 200) {
      const resumed = read(peer, async () => stitched(frames, rest), { holding });
      late.push({ what: "resumed", behind, peer, reader: resumed, like: reader });
      continue;
    }
    expect([rest.status, await rest.json()]).toMatchObject([409, { code: "reset" }]);
    const like = sources.find((it) => it.verb === "/connect" && it.peer === peer)?.reader ?? reader;
    const cut = async () => stitched(frames, new Response(null));
    const held = await read(peer, cut, { holding }).ended;
    const back = read(peer, (input) => ask(stage, "/connect", input), { holding: held });
    late.push({ what: "came back", behind, peer, reader: back, like });
  }
  return late;
}

/**
 * What counts of what a client holds: not what users said that nobody read. Before 1.0 a client gives up the last reasoning
 * and activities it has for nothing, and moves none: of them only those count that are in the thread, wherever they stand.
 *
 * @param isBack it joined with what it held: no client posts its activities, so that nobody knows where they stand
 */
function comparable(
  messages: readonly AgUiMessage[],
  state: SessionState,
  peer: Peer,
  isBack = false,
): AgUiMessage[] {
  const loose = new Set(peer === "0" ? ["reasoning", "activity"] : isBack ? ["activity"] : []);
  const known = new Set(agUiMessages(state, { peer }).map(({ id }) => id));
  const counted = messages.filter(({ id }) => !isUnread(state, id));
  const set = counted.filter(({ id, role }) => loose.has(role) && known.has(id));
  return [
    ...counted.filter(({ role }) => !loose.has(role)),
    ...set.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ];
}

/** Whether nobody read what a user said: it is told when somebody does. */
function isUnread({ messages, runs }: SessionState, messageId: string): boolean {
  const isRead = [...runs.values()].some(
    ({ parentId, activation, steers = [] }) =>
      (activation && parentId === messageId) ||
      steers.some((steer) => steer.messageId === messageId && steer.consumed),
  );
  return messages.has(messageId) && !isRead;
}

async function stateOf(stage: Stage): Promise<SessionState> {
  const { body } = await stage.ask("GET", "/v1/sessions/s1/state");
  return fromRows(body.offset, body.state);
}
