import type {
  AgentItem,
  Codec,
  CommandBody,
  Json,
  StateRows,
  ToolDeclaration,
  Verdict,
} from "@holdfast/protocol";
import { HttpAgent, type Message, type RunAgentInput } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { memoryStorage } from "../../../src/storage/memory.ts";
import { createServer, type Grant, type ServerOptions } from "../../../src/index.ts";

/** Tests ask as fast as they can, and are not what rates are for. */
const UNBOUNDED = { perSecond: 1_000_000, burst: 1_000_000 };
const RATES = { commands: UNBOUNDED, attemptCommands: UNBOUNDED, sessions: UNBOUNDED };

export const PAGE = { name: "page", description: "Asks the page.", parameters: { type: "object" } };

/** Whose client, of which thread. */
interface Who {
  readonly who?: string;
  readonly thread?: string;
  readonly token?: string;
}

/** A real server on a port of its own, with session `s1` of agent `demo`. */
export async function openStage(options: Partial<ServerOptions> = {}) {
  const storage = options.storage ?? memoryStorage();
  const server = createServer({ leaseMs: 60_000, limits: RATES, ...options, storage });
  const { url } = await server.listen();
  const tokens = new Map<string, string>();
  for (const who of ["user:ana", "user:bo", "agent:demo"]) tokens.set(who, await server.mint(who));
  const token = (who = "user:ana") => tokens.get(who) ?? "";
  const ask = async (method: string, path: string, body?: unknown, bearer = token()) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
  let ids = 0;
  const command: Command = async (body, bearer = token(), session = "s1") => {
    const sent = { commands: [{ id: `t${(ids += 1)}`, ...body }] };
    const path = `/v1/sessions/${encodeURIComponent(session)}/commands`;
    const answered = await ask("POST", path, sent, bearer);
    const [verdict] = answered.body.verdicts ?? [];
    if (!verdict) throw new Error(JSON.stringify(answered));
    return verdict;
  };
  const addressed = ({ who, thread, token: bearer = token(who) }: Who) => ({
    url: url + (thread === undefined ? `/v1/sessions/s1/ag-ui` : `/v1/agents/demo/ag-ui`),
    threadId: thread ?? "s1",
    headers: { authorization: `Bearer ${bearer}` },
  });
  const stage = {
    server,
    url,
    token,
    ask,
    grant: (grants: readonly Grant[], who = "user:some") => server.mint(who, grants),
    command,
    /** Resolves once a call is as wanted. */
    async untilCall(callId: string, status: string) {
      const response = await fetch(`${url}/v1/sessions/s1/entries`, {
        headers: { accept: "text/event-stream", authorization: `Bearer ${token()}` },
      });
      for await (const _ of response.body ?? []) {
        const { calls } = await stage.state();
        if (calls.find((it) => it.id === callId)?.status === status) return;
      }
    },
    async state(): Promise<StateRows> {
      const { body } = await ask("GET", "/v1/sessions/s1/state");
      return body.state;
    },
    /** A stock client of session `s1`, or of a thread of agent `demo`. */
    client: (of: Who = {}) => new Client(addressed(of)),
    /** The same, of before 1.0. */
    client0: (of: Who = {}) => new HttpAgent0(addressed(of)),
    /** An attempt of what is ready, in the hands of the test. */
    async attempt(tools: readonly ToolDeclaration[] = []): Promise<Attempt> {
      const body = { agent: "demo", worker: "w1", waitMs: 10_000, tools };
      const { status, body: granted } = await ask(
        "POST",
        "/v1/work/claim",
        body,
        token("agent:demo"),
      );
      if (status !== 200) throw new Error(`No work: ${status} ${JSON.stringify(granted)}`);
      return attemptOf(command, granted.work);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      if (!options.storage) await storage[Symbol.asyncDispose]();
    },
  };
  await ask("PUT", "/v1/sessions/s1", { agent: "demo" });
  return stage;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** A stock client that can also join, the way its makers' own do. */
export class Client extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    const at = this.url;
    this.url = `${at}/connect`;
    try {
      return super.run(input);
    } finally {
      this.url = at;
    }
  }
}

interface Work {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
}

export type Attempt = ReturnType<typeof attemptOf>;

type Command = (body: CommandBody, bearer?: string, session?: string) => Promise<Verdict>;

function attemptOf(command: Command, work: Work) {
  const { runId, attempt } = work;
  let seq = 0;
  const say = async (body: object) => {
    const fence = { runId, attempt, producer: "main", seq: (seq += 1) };
    const verdict = await command({ ...fence, ...body } as CommandBody, work.token, work.session);
    const refused = verdict.error ?? verdict.skipped?.[0]?.error;
    if (refused) throw new Error(`${refused.code}: ${refused.message}`);
    return verdict;
  };
  return {
    ...work,
    append: (...items: AgentItem[]) => say({ type: "run.append", items }),
    finish: () => say({ type: "run.finish" }),
    fail: (code: string) => say({ type: "run.fail", error: { code, message: code } }),
    release: () => say({ type: "run.release" }),
    answer: (callId: string, value: Json) =>
      say({
        type: "run.append",
        items: [{ type: "call.answer", callId, outcome: "ok", answer: { type: "json", value } }],
      }),
  };
}

/** An event as a client's subscriber is told of it. */
export type Told = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Runs a client's agent, and notes each event as it comes. */
export function running(
  agent: Pick<Client, "runAgent">,
  more: Parameters<Client["runAgent"]>[0] = {},
) {
  const events: Told[] = [];
  const waiting = new Set<() => void>();
  const ended = agent.runAgent(more, {
    onEvent({ event }) {
      events.push(event as unknown as Told);
      for (const wake of waiting) wake();
    },
  });
  const types = () => events.map(({ type }) => type);
  return {
    events,
    types,
    ended: ended.then(() => events),
    last: () => events.at(-1),
    /** Resolves once an event of a type has come. */
    async until(type: string) {
      while (!types().includes(type)) {
        await new Promise<void>((resolve) => waiting.add(resolve));
        waiting.clear();
      }
    },
  };
}

/** A message of an assistant. */
export function text(id: string, ...deltas: string[]): AgentItem[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT" as const, messageId: id, delta })),
    { type: "TEXT_MESSAGE_END", messageId: id },
  ];
}

/** A call, its arguments in the pieces given. */
export function call(id: string, name: string, ...pieces: string[]): AgentItem[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId: `m-${id}` },
    ...pieces.map((delta) => ({ type: "TOOL_CALL_ARGS" as const, toolCallId: id, delta })),
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
}

/** One round, whole. */
export function round(...items: AgentItem[]): AgentItem[] {
  return [{ type: "round.open" }, ...items, { type: "round.close" }];
}

/** Posts as a client does, and gives the response as it comes. */
export const post = (
  stage: Stage,
  body: unknown,
  headers: Record<string, string> = {},
  path = "/v1/sessions/s1/ag-ui",
) =>
  fetch(stage.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${stage.token()}`, accept: "text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

export const user = (id: string, content: string): Message => ({ id, role: "user", content });

export const result = (toolCallId: string, content: string, more: object = {}): Message => ({
  id: `t-${toolCallId}`,
  role: "tool",
  toolCallId,
  content,
  ...more,
});

/** For an agent that appends its items as they are. */
export const PLAIN: Codec<AgentItem, unknown[]> = {
  name: "plain",
  encoder: () => ({ encode: (item) => [item], failure: undefined }),
  history: () => Promise.resolve([]),
};

export interface ReadEvent {
  readonly id?: string;
  readonly data: Record<string, unknown>;
}

/** The events of a whole stream; anything but LF, and more than one to a frame, is an error. */
export function eventsIn(stream: string): ReadEvent[] {
  if (stream.includes("\r") || !stream.endsWith("\n\n")) throw new Error("It is badly framed.");
  return stream
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => {
      const [, id, data = ""] = /^(?:id: (.*)\n)?data: (.*)$/.exec(frame) ?? [];
      return { ...(id !== undefined && { id }), data: JSON.parse(data) };
    });
}
