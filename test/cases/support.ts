import {
  fromRows,
  type AgentItem,
  type Call,
  type Json,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";
import { createServer, memoryStorage, type ServerOptions } from "holdfast";
import { devToken, wire, type Wire, type Work } from "../support/wire.ts";

export const TOOLS: ToolDeclaration[] = [
  { name: "weather" },
  { name: "location", executor: "client" },
  { name: "transfer", approval: "always" },
];

/** Tests ask as fast as they can, and are not what rates are for. */
const UNBOUNDED = { perSecond: 1_000_000, burst: 1_000_000 };
const RATES = { commands: UNBOUNDED, attemptCommands: UNBOUNDED, sessions: UNBOUNDED };

/** A real server on loopback, Ana, Bo and an agent, each by plain `fetch`. */
export async function openHouse(options: Partial<ServerOptions> = {}) {
  const storage = memoryStorage();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const start = async () => {
    const limits = { ...RATES, ...options.limits };
    const server = createServer({
      storage,
      secret,
      dev: true,
      leaseMs: 60_000,
      ...options,
      limits,
    });
    return { server, ...(await server.listen()) };
  };
  let running = await start();
  const connect = async () => ({
    ana: wire(running.url, await devToken(running.url, { name: "ana" })),
    bo: wire(running.url, await devToken(running.url, { name: "bo" })),
    agent: wire(running.url, await devToken(running.url, { agent: "demo" })),
  });
  const house = {
    ...(await connect()),
    url: running.url,
    session: "s1",
    /** @param meanwhile what happens while there is no server */
    async restart(meanwhile?: () => Promise<unknown>) {
      await running.server.close();
      await meanwhile?.();
      running = await start();
      Object.assign(house, await connect(), { url: running.url });
    },
    /** Ana says something; the run that answers it. */
    async send(text: string, more: object = {}): Promise<string> {
      const messageId = crypto.randomUUID();
      const verdict = await house.ana.command(house.session, {
        type: "message.send",
        messageId,
        content: text,
        ...more,
      });
      if (verdict.runId === undefined) throw new Error(`No run: ${JSON.stringify(verdict)}`);
      return verdict.runId;
    },
    /** The agent takes what is ready. */
    async attempt(declared: object = { tools: TOOLS }): Promise<Attempt> {
      const work = await house.agent.claimWork({ worker: "w1", ...declared });
      if (!work) throw new Error("No work came.");
      return attemptOf(house.ana.as(work.token), work);
    },
    async state(): Promise<SessionState> {
      const { offset, state } = await house.ana.state(house.session);
      return fromRows(offset, state);
    },
    async [Symbol.asyncDispose]() {
      await running.server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
  await house.ana.create(house.session);
  return house;
}

export type House = Awaited<ReturnType<typeof openHouse>>;
export type Attempt = ReturnType<typeof attemptOf>;

/** An attempt, as its agent uses it. */
export function attemptOf(agent: Wire, work: Work) {
  let seq = 0;
  const fence = () => ({
    runId: work.runId,
    attempt: work.attempt,
    producer: "main",
    seq: (seq += 1),
  });
  return {
    work,
    agent,
    append: (...items: AgentItem[]) =>
      agent.command(work.session, { type: "run.append", ...fence(), items }),
    finish: () => agent.command(work.session, { type: "run.finish", ...fence() }),
    claim: (callId: string) => agent.command(work.session, { type: "call.claim", callId }),
  };
}

/** One complete proposal, its arguments in the pieces given. */
export function proposal(callId: string, name: string, ...pieces: string[]): AgentItem[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: callId, toolCallName: name },
    ...pieces.map((delta) => ({ type: "TOOL_CALL_ARGS" as const, toolCallId: callId, delta })),
    { type: "TOOL_CALL_END", toolCallId: callId },
  ];
}

/** A run that waits for calls of the tools named, `c1` and so on, after its agent has finished. */
export async function suspendOn(house: House, ...tools: readonly string[]): Promise<Attempt> {
  await house.send("go");
  const attempt = await house.attempt();
  const calls = tools.flatMap((tool, n) => proposal(`c${n + 1}`, tool, `{"n":${n}}`));
  await attempt.append({ type: "round.open" }, ...calls, { type: "round.close" });
  await attempt.finish();
  return attempt;
}

/** The answer to a call, as a command. */
export function answerTo(callId: string, value: Json = "done") {
  const answer = { type: "json", value } as const;
  return { type: "call.answer", callId, outcome: "ok", answer } as const;
}

/** A call as it stands. */
export async function callOf(house: House, callId: string): Promise<Call> {
  const call = (await house.state()).calls.get(callId);
  if (!call) throw new Error(`There is no call ${callId}.`);
  return call;
}

/** A decision on a call as it stands, as a command. */
export async function decisionOn(house: House, callId: string, approved: boolean) {
  const approvalId = (await callOf(house, callId)).approval?.id ?? "none";
  return { type: "call.decide", callId, approvalId, approved } as const;
}

/** The types of what was logged after an offset, of those that begin so. */
export async function loggedSince(house: House, after: string, prefix: string): Promise<string[]> {
  const entries = await house.ana.entries(house.session);
  return entries.flatMap(({ offset, event }) =>
    offset > after && event.type.startsWith(prefix) ? [event.type] : [],
  );
}

/** What a stream says up to its first frame's end. */
export async function firstData(frames: ReadableStream<string>): Promise<string> {
  let text = "";
  const reader = frames.getReader();
  while (!/^data: .*\n\n/m.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error("The stream ended.");
    text += value;
  }
  reader.releaseLock();
  return text;
}
