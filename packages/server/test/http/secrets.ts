import type { AgentItem, CommandBody, StateRows } from "@holdfast/protocol";
import { createServer, memoryStorage, type Grant, type Server } from "../../src/index.ts";

/** Stands wherever the data of tools `pay` and `ask` may stand, and nowhere else. */
export const SECRET = "s3cret";

/** Session `s`, of which not everybody may see the data of tools `pay` and `ask`; that of `find` is for more. */
export interface Secrets extends AsyncDisposable {
  readonly server: Server;
  readonly url: string;
  readonly root: string;
  /** May see the data of `find`, answer for clients and decide on everything; two people. */
  readonly ana: string;
  readonly bo: string;
  /** May read, and see no tool's data. */
  readonly guest: string;
  readonly get: (path: string, token: string) => Promise<{ status: number; text: string }>;
  readonly command: (body: CommandBody, token: string) => Promise<Record<string, unknown>>;
  readonly state: (token: string) => Promise<StateAt>;
  /** Everything that can be said of calls, with secrets. Ends with the run suspended over open calls. */
  readonly tell: () => Promise<void>;
}

export interface StateAt {
  readonly offset: string;
  readonly visibility?: string;
  readonly state: StateRows;
}

const FINDER: Grant["verbs"] = ["read", "send", "data:find", "answer:*", "approve:*"];

export async function openSecrets(): Promise<Secrets> {
  const storage = memoryStorage();
  const server = createServer({ storage });
  const { url } = await server.listen();
  const mint = (principal: string, verbs: Grant["verbs"]) =>
    server.mint(principal, [{ sessions: "s", verbs }]);
  const root = await server.mint("user:root", [{ sessions: "*", verbs: ["admin", "agent:demo"] }]);
  const ana = await mint("user:ana", FINDER);
  const bo = await mint("user:bo", FINDER);
  const guest = await mint("user:guest", ["read"]);

  const ask = async (method: string, path: string, token: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const command = async (body: CommandBody, token: string) => {
    const said = { id: crypto.randomUUID(), ...body };
    const { text } = await ask("POST", "/v1/sessions/s/commands", token, said);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const state = async (token: string) =>
    JSON.parse((await ask("GET", "/v1/sessions/s/state", token)).text) as StateAt;
  await ask("PUT", "/v1/sessions/s", root, { agent: "demo" });
  await command({ type: "message.send", messageId: "m1", content: "hello" }, root);

  return {
    server,
    url,
    root,
    ana,
    bo,
    guest,
    get: (path, token) => ask("GET", path, token),
    command,
    state,
    async tell() {
      const claimed = await ask("POST", "/v1/work/claim", root, WORK);
      const { work } = JSON.parse(claimed.text) as { work: Work };
      let seq = 0;
      const append = async (...items: AgentItem[]) => {
        const { runId, attempt, token } = work;
        const fence = { runId, attempt, producer: "main", seq: (seq += 1) };
        const { error, skipped } = await command({ type: "run.append", ...fence, items }, token);
        if (error || skipped) throw new Error(JSON.stringify({ error, skipped }));
      };
      await append({ type: "round.open" }, ...ASIDE);
      await append(...proposal("paid", "pay"), ...proposal("denied", "pay"));
      await append(
        ...proposal("asked", "ask"),
        ...proposal("held", "ask"),
        ...proposal("wrong", "ask"),
      );
      await append(...proposal("found", "find", '{"q":"kept"}'), ...proposal("gated", "pay"));
      await append({
        type: "call.invalidate",
        callId: "wrong",
        error: { message: `${SECRET} is wrong`, paths: [`/${SECRET}`] },
      });
      await append({ type: "call.ask", callId: "gated", reason: `since ${SECRET}` });
      await append({ type: "round.close" });
      const { calls } = (await state(root)).state;
      const decide = (callId: string, more: object) => {
        const approvalId = calls.find(({ id }) => id === callId)?.approval?.id ?? "";
        const body = { type: "call.decide", callId, approvalId, approved: true, ...more } as const;
        return command(body, root);
      };
      await decide("paid", { arguments: `{"n":"edited ${SECRET}"}`, reason: `for ${SECRET}` });
      await decide("denied", { approved: false, reason: `not for ${SECRET}` });
      const progress = { done: SECRET };
      await append({ type: "call.progress", callId: "paid", progress, metadata: { x: SECRET } });
      const error = { type: "text", text: `failed: ${SECRET}` } as const;
      await append({ type: "call.answer", callId: "paid", outcome: "error", answer: error });
      const found = { type: "json", value: { at: "kept" } } as const;
      await append({ type: "call.answer", callId: "found", outcome: "ok", answer: found });
      const answer = { type: "json", value: { is: SECRET } } as const;
      await command({ type: "call.answer", callId: "asked", outcome: "ok", answer }, root);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

interface Work {
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
}

const WORK = {
  agent: "demo",
  worker: "w1",
  tools: [
    { name: "pay", approval: "always" },
    { name: "ask", executor: "client" },
    { name: "find" },
  ],
};

/** What is no call's, and may hold the data of one. */
const ASIDE: AgentItem[] = [
  { type: "RAW", event: { input: SECRET } },
  { type: "CUSTOM", name: "codec.chunk", value: { toolCallId: "nobody's", output: SECRET } },
  { type: "CUSTOM", name: "note", value: "kept" },
];

function proposal(toolCallId: string, toolCallName: string, given?: string): AgentItem[] {
  const text = given ?? `{"n":"${SECRET} of ${toolCallId}"}`;
  const metadata = { codec: { input: given ?? SECRET } };
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName, metadata },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: text.slice(0, 8) },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: text.slice(8), rawEvent: { text } },
    {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "tool-call",
      entityId: toolCallId,
      encryptedValue: given ?? SECRET,
    },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}
