import { createServer, memoryStorage, type ServerOptions } from "holdfast";
import {
  fromRows,
  reduceAll,
  type CommandBody,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";
import { createTransport, follow } from "@holdfast/sdk/client";

export const AGENT = "demo";

/** A real server on memory storage and a free port of loopback, and people who use it by plain requests. */
export async function openLab(options: Partial<ServerOptions> = {}) {
  const storage = memoryStorage();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const start = () =>
    createServer({ storage, secret, leaseMs: 5_000, claimLeaseMs: 5_000, ...options });
  let server = start();
  let sessions = 0;
  const { url, port } = await server.listen();

  const transportOf = async (principal: string) =>
    createTransport({
      url,
      token: await server.mint(principal),
      backoff: { baseMs: 10, maxMs: 100 },
    });

  async function command(session: string, body: CommandBody, as = "user:ana"): Promise<Verdict> {
    const transport = await transportOf(as);
    return transport.json(`/v1/sessions/${session}/commands`, {
      method: "POST",
      body: JSON.stringify({ id: crypto.randomUUID(), ...body }),
      parse: (value) => value as Verdict, // our own server's
    });
  }

  return {
    url,
    token: () => server.mint(`agent:${AGENT}`),
    mint: (principal: string) => server.mint(principal),
    command,
    async session(): Promise<string> {
      const id = `s${(sessions += 1)}`;
      const transport = await transportOf("user:ana");
      await transport.json(`/v1/sessions/${id}`, {
        method: "PUT",
        body: JSON.stringify({ agent: AGENT }),
        parse: () => undefined,
      });
      return id;
    },
    /** Sends a message. @returns its run's id */
    async send(session: string, content: string): Promise<string> {
      const messageId = crypto.randomUUID();
      const { runId } = await command(session, { type: "message.send", messageId, content });
      if (runId === undefined) throw new Error("no run");
      return runId;
    },
    /** Follows the session until `found` gives something other than undefined or false. */
    async until<T>(
      session: string,
      found: (state: SessionState) => T | undefined | false,
      { within = 20_000 } = {},
    ): Promise<T> {
      const signal = AbortSignal.timeout(within);
      let state: SessionState | undefined;
      try {
        for await (const next of follow(await transportOf("user:ana"), { session, signal })) {
          if (next.type === "state") state = fromRows(next.offset, next.state);
          else if (state) reduceAll(state, next.frame.entries);
          const result = state && found(state);
          if (result !== undefined && result !== false) return result;
        }
      } catch (error) {
        throw new Error(`Not within ${within} ms: ${found.toString()}\n${show(state)}`, {
          cause: error,
        });
      }
      throw new Error("the stream ended");
    },
    /** Closes the server as it is, and starts another on the same storage and port. */
    async restart({ downMs = 0 } = {}): Promise<void> {
      await server.close();
      if (downMs > 0) await new Promise((resolve) => setTimeout(resolve, downMs));
      server = start();
      await server.listen({ port });
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

export type Lab = Awaited<ReturnType<typeof openLab>>;

/** The run once it has ended. */
export function ended(runId: string) {
  return (state: SessionState) => {
    const run = state.runs.get(runId);
    return run?.status === "ended" && { run, state, text: textOf(state, runId) };
  };
}

/** What the run's texts say, in order, one line each. */
export function textOf(state: SessionState, runId: string): string {
  return [...state.items.values()]
    .filter((item) => item.kind === "text" && item.runId === runId)
    .sort((a, b) => (a.offset < b.offset ? -1 : 1))
    .map((item) => (item.kind === "text" ? item.text : ""))
    .join("\n");
}

function show(state: SessionState | undefined): string {
  if (!state) return "no state";
  const runs = [...state.runs.values()].map(({ tools: _tools, ...run }) => run);
  const calls = [...state.calls.values()].map(({ history: _h, tool: _t, ...call }) => call);
  return JSON.stringify({ runs, calls }, null, 1);
}
