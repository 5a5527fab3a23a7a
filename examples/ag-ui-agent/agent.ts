import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

// An AG-UI agent without a framework and without a model: a POST is a run, its answer a stream of events. It asks the
// application where the user is, and a person before it pays.

interface Input {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly toolCallId?: string;
  }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly resume?: readonly {
    readonly interruptId: string;
    readonly status: string;
    readonly payload?: unknown;
  }[];
}

type AgentEvent = { readonly type: string; readonly [field: string]: unknown };

/** Starts the agent, by default on any free port of this machine. */
export async function startAgent(
  port = 0,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const input = JSON.parse(Buffer.concat(chunks).toString()) as Input; // a server's, which speaks AG-UI
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of run(input)) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${bound}/`, server };
}

function* run(input: Input): Generator<AgentEvent> {
  const { threadId, runId } = input;
  yield { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
  yield* say(input);
  const interrupts = asksBefore(input);
  const outcome = interrupts ? { type: "interrupt", interrupts } : { type: "success" };
  yield { type: "RUN_FINISHED", threadId, runId, outcome };
}

function* say(input: Input): Generator<AgentEvent> {
  const { messages, tools = [], resume, runId } = input;
  const last = messages.at(-1);
  if (resume) {
    const approved = isApproved(resume[0]?.payload);
    yield result("pay", approved ? "Paid 5." : "Not paid.");
    yield* text(runId, approved ? "It is paid." : "Then not.");
  } else if (last?.role === "tool" && last.toolCallId === "where") {
    yield* text(runId, `You are here: ${String(last.content)}. Parking is 5.`);
    yield* call("pay", "pay", { amount: 5 });
  } else if (/\bthank/i.test(String(last?.content))) {
    yield* text(runId, "You are welcome.");
  } else if (tools.some(({ name }) => name === "where_am_i")) {
    yield* call("where", "where_am_i", {});
  } else {
    yield* text(runId, "Hello. Nobody here can tell me where you are.");
  }
}

/** What has to be decided before it pays. */
function asksBefore({ messages, resume }: Input): readonly object[] | undefined {
  if (resume || messages.at(-1)?.toolCallId !== "where") return undefined;
  return [{ id: "pay", reason: "tool_call", toolCallId: "pay", message: "Pay 5 for parking?" }];
}

function isApproved(payload: unknown): boolean {
  return (
    typeof payload === "object" &&
    payload !== null &&
    "approved" in payload &&
    payload.approved === true
  );
}

function* text(messageId: string, delta: string): Generator<AgentEvent> {
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  for (const word of delta.split(/(?<= )/))
    yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: word };
  yield { type: "TEXT_MESSAGE_END", messageId };
}

function* call(toolCallId: string, toolCallName: string, args: object): Generator<AgentEvent> {
  yield { type: "TOOL_CALL_START", toolCallId, toolCallName };
  yield { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) };
  yield { type: "TOOL_CALL_END", toolCallId };
}

function result(toolCallId: string, content: string): AgentEvent {
  return { type: "TOOL_CALL_RESULT", messageId: `result-${toolCallId}`, toolCallId, content };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startAgent(Number(process.argv[2] ?? 8000));
  console.log(`The agent listens on ${url}`);
}
