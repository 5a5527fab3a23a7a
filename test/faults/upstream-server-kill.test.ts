import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callsOf, fromRows, type Offset, type Run, type SessionState } from "@holdfast/protocol";
import { Client, PAGE } from "../../packages/server/test/faces/ag-ui/stage.ts";
import { until } from "../../packages/server/test/support/clock.ts";
import {
  call,
  endpoint,
  result,
  text,
  type Asked,
  type Endpoint,
} from "../../packages/server/test/upstream/endpoint.ts";
import { freePort, startServer } from "../support/server-process.ts";
import { devToken, wire } from "../support/wire.ts";
import { killRounds } from "./rounds.ts";

/** Sessions of an AG-UI agent, on a server that is killed and started again. */
async function openLab(agentUrl: string) {
  const data = await mkdtemp(join(tmpdir(), "holdfast-upstream-"));
  const port = await freePort();
  const start = () => startServer({ data, port, args: ["--agent", agentUrl] });
  let server = await start();
  const token = await devToken(server.url, { name: "Ana" });
  const user = wire(server.url, token);
  const state = async (session: string): Promise<SessionState> => {
    const { offset, state } = await user.state(session);
    return fromRows(offset as Offset, state);
  };
  const runOf = async (session: string): Promise<Run> => {
    const [run] = (await state(session)).runs.values();
    if (!run) throw new Error(`Session ${session} has no run.`);
    return run;
  };
  return {
    state,
    runOf,
    /** A session whose agent is asked. */
    async begin(session: string): Promise<void> {
      await user.create(session, "default");
      await user.command(session, { type: "tools.advertise", tools: [PAGE] });
      const send = { type: "message.send", messageId: "u1", content: "Go." } as const;
      await user.command(session, send);
    },
    async restart(): Promise<void> {
      await server.kill();
      server = await start();
    },
    /** What there is once nothing goes on by itself. */
    async atRest(session: string) {
      let run = await runOf(session);
      await until("the run to come to rest", async () => {
        run = await runOf(session);
        return run.status === "ended" || run.status === "suspended";
      });
      const found = await state(session);
      return { run, texts: textsIn(found), calls: callsOf(found, run.id) };
    },
    /** What a stock client holds that joins now. */
    async joined(session: string) {
      const url = `${server.url}/v1/sessions/${session}/ag-ui`;
      const headers = { authorization: `Bearer ${token}` };
      const client = new Client({ url, threadId: session, headers });
      await client.connectAgent();
      return client.messages.map(({ role, content }) => [role, content ?? "a call"]);
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(data, { recursive: true, force: true });
    },
  };
}

type Lab = Awaited<ReturnType<typeof openLab>>;

function textsIn(state: SessionState): string[] {
  return [...state.items.values()].flatMap((it) => ("text" in it ? [it.text] : []));
}

interface Case {
  /** What the agent says until its server is killed; undefined: not even that it answers. */
  readonly said: readonly object[] | undefined;
  /** Whether all of that is in the log. */
  readonly isThere: (state: SessionState, run: Run) => boolean;
  readonly texts: readonly string[];
  readonly held: readonly (readonly string[])[];
}

const HALF = text("t1", "Half.").slice(0, 2);
const WHOLE = {
  texts: ["Whole."],
  held: [
    ["user", "Go."],
    ["assistant", "Whole."],
  ],
};

/** The agent is asked again. */
const AGAIN: Readonly<Record<string, Case>> = {
  "before anything came": { said: undefined, isThere: () => true, ...WHOLE },
  "while a text comes": { said: HALF, isThere: (it) => textsIn(it)[0] === "Half.", ...WHOLE },
  "while arguments of a client's call come": {
    said: [...text("t1", "Half."), ...call("c1", PAGE.name, "{").slice(0, 2)],
    isThere: ({ calls }) => calls.get("c1")?.arguments === "{",
    ...WHOLE,
  },
};

const PAY = call("c1", "pay", '{"n":1}');
const SO = [...text("t1", "So."), ...PAY];

/** It is not: it may have done what cannot be done twice. */
const LOST: Readonly<Record<string, Case>> = {
  "while arguments of the agent's call come": {
    said: SO.slice(0, -1),
    isThere: ({ calls }) => calls.get("c1")?.arguments === '{"n":1}',
    texts: [],
    held: [["user", "Go."]],
  },
  "between a call's end and the run's": {
    said: SO,
    isThere: ({ calls }) => calls.get("c1")?.status === "claimed",
    texts: ["So."],
    held: [
      ["user", "Go."],
      ["assistant", "So."],
      ["assistant", "a call"],
      ["tool", expect.stringContaining("Outcome unknown") as string],
    ],
  },
  "while the agent says what came of a call": {
    said: [...SO, result("c1", "paid"), ...text("t2", "Paid.").slice(0, 2)],
    isThere: (it) => textsIn(it).at(-1) === "Paid.",
    texts: ["So."],
    held: [
      ["user", "Go."],
      ["assistant", "So."],
      ["assistant", "a call"],
      ["tool", "paid"],
    ],
  },
};

/** Its last word was there: that holds. */
const ENDED: Readonly<Record<string, Case>> = {
  "when the agent has called a client and finished": {
    said: [...text("t1", "So."), ...call("c1", PAGE.name), { type: "RUN_FINISHED" }],
    isThere: (_, { metadata = {} }) => JSON.stringify(metadata).includes('"success"'),
    texts: ["So."],
    held: [
      ["user", "Go."],
      ["assistant", "So."],
      ["assistant", "a call"],
    ],
  },
};

const CASES: Readonly<Record<string, Case>> = { ...AGAIN, ...LOST, ...ENDED };

describe("12.5.15 Holdfast is killed", () => {
  const sessions = new Map(Object.keys(CASES).map((name, n) => [name, `s${n}`]));
  const sessionOf = (name: string) => sessions.get(name) ?? "";
  let agent: Endpoint;
  let lab: Lab;
  const asked = (name: string) =>
    agent.asked.filter(({ input }) => input.threadId === sessionOf(name));

  beforeAll(async () => {
    agent = await endpoint((it) => {
      const name = Object.keys(CASES).find((name) => sessionOf(name) === it.input.threadId) ?? "";
      if (asked(name).length > 1) it.start(...text("t9", "Whole.")).finish();
      else answer(it, CASES[name]?.said);
    });
    lab = await openLab(agent.url);
    for (const [name, session] of sessions) {
      await lab.begin(session);
      await until(`what is said ${name}`, async () => {
        const isThere = CASES[name]?.isThere(await lab.state(session), await lab.runOf(session));
        return asked(name).length === 1 && isThere === true;
      });
    }
    await lab.restart();
  }, 60_000);

  afterAll(async () => {
    await lab[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });

  test.each(Object.entries(AGAIN))(
    "%s: the agent is asked again, and nothing is there twice",
    async (name, { texts, held }) => {
      const rest = await lab.atRest(sessionOf(name));
      expect(rest.run).toMatchObject({ outcome: "complete", attempt: 2 });
      expect(rest.texts).toEqual(texts);
      expect(rest.calls.filter(({ outcome }) => outcome !== "superseded")).toEqual([]);
      const messages = [{ id: "u1", role: "user", content: "Go." }];
      expect(asked(name).map(({ input }) => input.messages)).toEqual([messages, messages]);
      expect(await lab.joined(sessionOf(name))).toEqual(held);
    },
  );

  test.each(Object.entries(LOST))(
    "%s: the agent may have done it, and is not asked again",
    async (name, { texts, held }) => {
      const rest = await lab.atRest(sessionOf(name));
      expect(rest.run).toMatchObject({ outcome: "error", error: { code: "agent_lost" } });
      expect(rest.texts).toEqual(texts);
      expect(asked(name)).toHaveLength(1);
      expect(await lab.joined(sessionOf(name))).toEqual(held);
    },
  );

  test.each(Object.entries(ENDED))("%s: that holds", async (name, { texts, held }) => {
    const rest = await lab.atRest(sessionOf(name));
    expect(rest.run).toMatchObject({ status: "suspended" });
    expect([rest.texts, rest.calls.map(({ status }) => status)]).toEqual([texts, ["open"]]);
    expect(asked(name)).toHaveLength(1);
    expect(await lab.joined(sessionOf(name))).toEqual(held);
  });
});

/** Says this much, and no more. */
function answer(asked: Asked, said: readonly object[] | undefined): void {
  const { threadId, runId } = asked.input;
  if (said) asked.start(...said.map((it) => ({ ...it, ...named(it, { threadId, runId }) })));
}

function named(event: object, ids: object): object {
  return "type" in event && event.type === "RUN_FINISHED" ? ids : {};
}

/** Each is killed at another moment, so that a few rounds are many kills. */
const SESSIONS = 12;
const ROUNDS = Math.max(1, Math.round(killRounds() / 3));

test(
  "12.5.15 Holdfast is killed at any moment of its runs: they come to rest, nothing is there twice, and no call is asked for twice",
  { timeout: 30_000 + ROUNDS * 30_000 },
  async () => {
    const story = [
      ...text("t1", ..."abcdefgh".split("")),
      ...call("c1", "pay", '{"n":1}'),
      result("c1", "paid"),
      ...text("t2", ..."ijklmnop".split("")),
    ];
    const all = "abcdefghijklmnop";
    for (let round = 0; round < ROUNDS; round += 1) {
      await using agent = await endpoint(async (asked) => {
        asked.start();
        for (const event of story) {
          asked.send(event);
          await new Promise((resolve) => setTimeout(resolve, 4));
        }
        asked.finish();
      });
      await using lab = await openLab(agent.url);
      const sessions = Array.from({ length: SESSIONS }, (_, n) => `s${n}`);
      for (const session of sessions) await lab.begin(session);
      await until("the last to be asked", () => agent.asked.length === SESSIONS);
      await lab.restart();
      for (const session of sessions) {
        const { run, texts, calls } = await lab.atRest(session);
        const said = texts.join("");
        const asked = agent.asked.filter(({ input }) => input.threadId === session).length;
        const stands = calls.filter(({ outcome }) => outcome !== "superseded");
        if (run.outcome === "complete") {
          expect([said, stands.map(({ outcome }) => outcome)]).toEqual([all, ["ok"]]);
        } else {
          expect([run.outcome, run.error?.code]).toEqual(["error", "agent_lost"]);
          expect([asked, all.startsWith(said)]).toEqual([1, true]);
        }
        // Where it was asked twice, it had not begun its call the first time.
        if (asked > 1) expect([asked, calls.length]).toEqual([2, 1]);
      }
    }
  },
);
