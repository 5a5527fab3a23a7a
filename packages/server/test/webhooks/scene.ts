import type { ToolDeclaration, WebhookEvent } from "@holdfast/protocol";
import {
  createServer,
  memoryStorage,
  type Grant,
  type Storage,
  type WebhookOptions,
} from "../../src/index.ts";
import { ManualClock, quiet } from "../support/clock.ts";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const AGENT_URL = "http://agent.test/wake";
export const NOTIFY_URL = "http://people.test/notify";

/** One message as a receiver gets it. */
export interface Received {
  readonly url: string;
  readonly at: number;
  readonly headers: Headers;
  readonly body: string;
  readonly event: WebhookEvent;
}

export type Answerer = (message: Received) => Response | Promise<Response>;

const accepted: Answerer = () => new Response(null, { status: 204 });

/**
 * A server whose clock stands, and what it sends to its webhooks: nothing leaves the process. `random` is always one
 * half, so that waits are half of what they may be.
 */
export function scene(
  options: WebhookOptions & {
    readonly storage?: Storage;
    readonly clock?: ManualClock;
    /** Default: whatever is logged fails the test. */
    readonly log?: (message: string, error: unknown) => void;
  } = {},
) {
  const { clock = new ManualClock(), log = fail, ...webhooks } = options;
  const storage = options.storage ?? memoryStorage({ now: clock.now });
  const sent: Received[] = [];
  let answer = accepted;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = await request.text();
    const message = {
      url: request.url,
      at: clock.now(),
      headers: request.headers,
      body,
      event: JSON.parse(body) as WebhookEvent,
    };
    sent.push(message);
    const given = await Promise.race([answer(message), aborted(init?.signal)]);
    return given;
  };
  const server = createServer({
    storage,
    secret: new Uint8Array(32),
    schedule: clock.schedule,
    log,
    webhooks: {
      agents: { demo: { url: AGENT_URL, secret: SECRET } },
      notify: { url: NOTIFY_URL, secret: SECRET },
      random: () => 0.5,
      fetch,
      ...webhooks,
    },
  });

  async function request(method: string, path: string, body?: unknown, as = "user:ana") {
    const token = await server.mint(as);
    const response = await server.fetch(
      new Request(`http://server.test${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    const json = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    return { status: response.status, body: json };
  }

  let commands = 0;
  async function command(session: string, body: object, token?: string) {
    const response = await server.fetch(
      new Request(`http://server.test/v1/sessions/${session}/commands`, {
        method: "POST",
        headers: { authorization: `Bearer ${token ?? (await server.mint("user:ana"))}` },
        body: JSON.stringify({ id: `c${(commands += 1)}`, ...body }),
      }),
    );
    const verdict = (await response.json()) as { status: string; runId?: string };
    if (!response.ok) throw new Error(JSON.stringify(verdict));
    return verdict;
  }

  return {
    clock,
    storage,
    server,
    sent,
    request,
    command,
    /** From now on messages are answered so; default: 204. */
    answer: (by: Answerer = accepted) => void (answer = by),
    /** A session whose agent has work. @returns its run */
    async wake(session = "s", agent = "demo"): Promise<string> {
      await request("PUT", `/v1/sessions/${session}`, { agent });
      const { runId = "" } = await command(session, {
        type: "message.send",
        messageId: crypto.randomUUID(),
        content: "hello",
      });
      await quiet();
      return runId;
    },
    async claim(claim: object = {}) {
      const asked = { agent: "demo", worker: "w1", ...claim };
      const { status, body } = await request("POST", "/v1/work/claim", asked, "agent:demo");
      return { status, ...(body as { code?: string; work?: Granted }) };
    },
    /** A call of a tool that waits for people, of a session with no agent's webhook. */
    async ask(session = "s", tool: Partial<ToolDeclaration> = {}) {
      await this.wake(session, "other");
      const asked = { agent: "other", worker: `w-${session}`, tools: [{ ...PAY, ...tool }] };
      const { body } = await request("POST", "/v1/work/claim", asked, "agent:other");
      const { runId, attempt, token } = (body as { work: Granted }).work;
      const fence = { runId, attempt, producer: "p" };
      const items = [
        { type: "round.open" },
        { type: "TOOL_CALL_START", toolCallId: "call1", toolCallName: "pay" },
        { type: "TOOL_CALL_ARGS", toolCallId: "call1", delta: "{}" },
        { type: "TOOL_CALL_END", toolCallId: "call1" },
        { type: "round.close" },
      ];
      await command(session, { type: "run.append", ...fence, seq: 1, items }, token);
      await command(session, { type: "run.finish", ...fence, seq: 2 }, token);
      await quiet();
      return runId;
    },
    /** Somebody reads the session live until they leave. */
    async connect(
      session = "s",
      as = "user:ana",
      verbs?: Grant["verbs"],
    ): Promise<() => Promise<void>> {
      const grants = verbs && [{ sessions: "*", verbs }];
      const response = await server.fetch(
        new Request(`http://server.test/v1/sessions/${session}/entries`, {
          headers: {
            authorization: `Bearer ${await server.mint(as, grants)}`,
            accept: "text/event-stream",
          },
        }),
      );
      const reader = response.body?.getReader();
      await reader?.read();
      void reader?.read().catch(() => {});
      await quiet();
      return async () => {
        await reader?.cancel();
        await quiet();
      };
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

export interface Granted {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly wakeId: string;
  readonly token: string;
}

const PAY: ToolDeclaration = {
  name: "pay",
  parameters: { type: "object" },
  approval: "always",
};

function fail(message: string, error: unknown): never {
  throw new Error(message, { cause: error });
}

function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error));
  });
}
