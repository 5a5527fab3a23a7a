import { COMMAND_TYPES, type Rejection, type Verdict } from "@holdfast/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Verb } from "../../src/index.ts";
import { createApp, type HttpOptions } from "../../src/http/index.ts";
import { rawSocket } from "../support/socket.ts";
import { ACTS, type Act } from "./acts.ts";
import { openScene, send, sendOver, type Answered, type Scene } from "./scene.ts";

/** Somebody with a token, and what that is worth in words of the acts' needs. */
interface Role {
  readonly name: string;
  readonly holds: readonly string[];
  /** In which of the scene's sessions; `all` is what belongs to none. */
  readonly in: readonly string[];
  token(scene: Scene): Promise<string>;
}

const TEAM = ["team-a-1", "team-a-2", "team-a-9"];
const PEOPLE = [
  "read",
  "list",
  "send",
  "cancel",
  "admin",
  "answer:location",
  "answer:camera",
  "approve:transfer",
  "request:location",
];

/** Every verb, and what the acts need of it. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  read: ["read", "list"],
  data: [],
  "data:location": [],
  send: ["send"],
  cancel: ["cancel"],
  admin: PEOPLE,
  "answer:location": ["answer:location", "request:location"],
  "answer:loc*": ["answer:location", "request:location"],
  "answer:*": ["answer:location", "answer:camera", "request:location"],
  "answer:transfer": [],
  "answer:locatio": [],
  "answer:__proto__": [],
  "approve:transfer": ["approve:transfer"],
  "approve:*": ["approve:transfer", "request:location"],
  "approve:location": ["request:location"],
  "approve:transfer2": [],
  "agent:demo": ["agent:demo"],
  "agent:*": ["agent:demo"],
  "agent:other": [],
};

const role = (
  name: string,
  verbs: readonly string[],
  sessions: string,
  where: readonly string[],
  principal = "user:role",
): Role => ({
  name,
  in: where,
  holds: verbs.flatMap((verb) => VERBS[verb] ?? []),
  token: (scene) => scene.token(principal, [{ sessions, verbs: verbs as readonly Verb[] }]),
});

const EVERY = Object.keys(VERBS);
const ROLES: readonly Role[] = [
  ...EVERY.map((verb) => role(`${verb} in team-a-*`, [verb], "team-a-*", TEAM)),
  ...["read", "send", "cancel", "admin", "answer:*", "approve:*", "agent:*"].map((verb) =>
    role(`all but ${verb}`, without(verb), "team-a-*", TEAM),
  ),
  role("everything in team-a-1", EVERY, "team-a-1", ["team-a-1"]),
  role("everything in *", EVERY, "*", [...TEAM, "all"]),
  ...["team-b-*", "team-a", "team-a-", "TEAM-A-*", "*-1", "team-*-1", "constructor"].map(
    (sessions) => role(`everything in ${sessions}`, EVERY, sessions, []),
  ),
  role("send and cancel", ["send", "cancel"], "team-a-*", TEAM),
  {
    ...role("an agent that was granted decisions", ["approve:*"], "team-a-*", TEAM, "agent:demo"),
    holds: ["approval.revoke"],
  },
  {
    name: "nobody in particular",
    holds: [],
    in: [],
    token: (scene) => scene.token("user:role", []),
  },
  {
    name: "the run's attempt",
    holds: ["read", "attempt"],
    in: ["team-a-1"],
    token: async (scene) => scene.attemptToken,
  },
];

/** Everything else that the acts need; verbs that allow the same go with it. */
function without(verb: string): string[] {
  const lost = verb === "admin" ? ["admin"] : (VERBS[verb] ?? []);
  return EVERY.filter(
    (other) => other !== verb && !(VERBS[other] ?? []).some((need) => lost.includes(need)),
  );
}

type Face = (scene: Scene, act: Act, token: string) => Promise<Answered>;

/** The ways in. */
const FACES: Readonly<Record<string, Face>> = {
  fetch: (scene, act, token) => send(scene.server, { ...act.asked(scene), token }),
  socket: (scene, act, token) => sendOver(scene.url, { ...act.asked(scene), token }),
  "a batch": async (scene, act, token) => {
    const asked = act.asked(scene);
    if (!act.command) return send(scene.server, { ...asked, token });
    const body = { commands: [asked.body] };
    const answered = await sendOver(scene.url, { ...asked, body, token });
    if (answered.status !== 200) return answered;
    const [verdict] = JSON.parse(answered.text).verdicts;
    return verdict.error
      ? { status: 403, text: JSON.stringify(verdict.error) }
      : { status: 200, text: JSON.stringify(verdict) };
  },
  "a WebSocket": overWebSocket,
};

/** Commands, and following a session; what else there is, a WebSocket does not do. */
async function overWebSocket(scene: Scene, act: Act, token: string): Promise<Answered> {
  const asked = act.asked(scene);
  const session = act.session ?? "";
  if (asked.path === "/v1/work/claim") return claimOver(scene, asked.body, token);
  const follows = asked.method === "GET" && /\/(state|entries)$/.test(asked.path);
  if (!act.command && !follows) return send(scene.server, { ...asked, token });
  await using socket = await rawSocket(scene.url);
  await socket.ask({ type: "auth", token });
  const { body } = asked as { body?: { type: string } };
  if (body?.type === "run.append") {
    socket.send({ type: "append", session, command: body });
    const { error } = await socket.find(({ type }) => /^(ack|refused|error)$/.test(type));
    if (!error) return { status: 200, text: '{"status":"applied"}' };
    // Here it takes the attempt's token, of whoever the socket is.
    const { code } = error as Rejection;
    expect(["unauthenticated", "forbidden"]).toContain(code);
    return { status: 403, text: '{"code":"forbidden"}' };
  }
  const frame = act.command ? { type: "commands", commands: [asked.body] } : { type: "subscribe" };
  const answer = await socket.ask({ ...frame, session });
  const [verdict] = (answer["verdicts"] ?? []) as Verdict[];
  const error = verdict?.error ?? answer["error"];
  return error
    ? { status: 403, text: JSON.stringify(error) }
    : { status: 200, text: JSON.stringify(verdict ?? answer) };
}

async function claimOver(scene: Scene, request: unknown, token: string): Promise<Answered> {
  await using socket = await rawSocket(scene.url);
  await socket.ask({ type: "auth", token });
  const { error, work } = await socket.ask({ type: "work", request });
  if (error) return { status: 403, text: JSON.stringify(error) };
  return { status: work ? 200 : 204, text: JSON.stringify(work ?? null) };
}

function mayDo({ holds, in: where }: Role, act: Act): boolean {
  if (act.name === "take an approval back" && holds.includes("approval.revoke")) return true;
  return where.includes(act.session ?? "all") && act.needs.every((need) => holds.includes(need));
}

let shared: Scene;
beforeAll(async () => {
  shared = await openScene();
});
afterAll(() => shared[Symbol.asyncDispose]());

// One way in is enough to see whose each act is; that all ways agree takes half a minute, and has a run of its own.
const faces = Object.entries(FACES).filter(
  ([name]) => process.env["HOLDFAST_MATRIX"] === "all" || name === "socket",
);

describe.each(faces)("through %s", (_face, ask) => {
  test.each(ROLES)(
    "$name: what it may works, all else is refused and changes nothing",
    async (it) => {
      const before = await shared.photograph();
      const token = await it.token(shared);
      for (const act of ACTS.filter((other) => !mayDo(it, other))) {
        const answered = await ask(shared, act, token);
        expect([act.name, act.isRefused(answered), answered]).toEqual([act.name, true, answered]);
      }
      expect(await shared.photograph()).toBe(before);
      for (const act of ACTS.filter((other) => mayDo(it, other))) {
        await using scene = await openScene();
        const answered = await ask(scene, act, await it.token(scene));
        expect([act.name, act.works(answered), answered]).toEqual([act.name, true, answered]);
      }
    },
  );
});

test("every command is among the acts, and every act is somebody's and not everybody's", async () => {
  const types = new Set(ACTS.flatMap(({ command }) => command?.(shared).type ?? []));
  // It ends a step, which takes another command first; its permission is that of its start.
  expect(COMMAND_TYPES.filter((type) => !types.has(type))).toEqual(["step.end"]);
  for (const act of ACTS) {
    const able = ROLES.filter((it) => mayDo(it, act)).length;
    expect([act.name, able > 0 && able < ROLES.length]).toEqual([act.name, true]);
  }
});

test("every route is among the acts", () => {
  // What the routes need is used when they are asked.
  const { routes } = createApp({ corsOrigins: [], dev: false } as unknown as HttpOptions);
  const asked = ACTS.map((act) => act.asked(shared)).map(({ method, path }) => `${method} ${path}`);
  const patterns = routes.flatMap(({ method, path }) =>
    method === "ALL" || path === "/healthz"
      ? []
      : [new RegExp(`^${method} ${path.replaceAll(/:\w+/g, "[^/]+")}$`)],
  );
  expect(patterns.length).toBeGreaterThan(15);
  expect(patterns.filter((pattern) => !asked.some((it) => pattern.test(it)))).toEqual([]);
});
