import { createServer } from "node:http";

// An AG-UI agent to be killed: `node upstream-process.ts <port>`. It says as much of a run as its user's last words name,
// and nothing more; other words it answers in whole. Every input that it is given is a line of its output.
const [port = "0"] = process.argv.slice(2);

interface Input {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

const start = { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pay" };
const halfOfIt = [start, { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"n":' }];
const call = [
  ...halfOfIt,
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "1}" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
];
const result = { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: "paid" };
const page = [
  { ...start, toolCallName: "page" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
];
const text = (messageId: string, ...deltas: string[]) => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  { type: "TEXT_MESSAGE_END", messageId },
];

/** How far it gets in a run. */
const PARTS: Readonly<Record<string, readonly object[]>> = {
  begun: [],
  text: text("t1", "One.", " Two.").slice(0, 2),
  arguments: [...text("t1", "One."), ...halfOfIt],
  called: [...text("t1", "One."), ...call],
  page: [...text("t1", "One."), ...page],
  answered: [...text("t1", "One."), ...call, result],
  resumed: [...text("t1", "One."), ...call, result, ...text("t2", "Done.").slice(0, 2)],
};

createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    process.stdout.write(`${body}\n`);
    const { threadId, runId, messages } = JSON.parse(body) as Input;
    const asked = messages.findLast(({ role }) => role === "user")?.content;
    const said = typeof asked === "string" ? asked : "";
    if (said === "silent") return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    send({ type: "RUN_STARTED", threadId, runId });
    const finished = { type: "RUN_FINISHED", threadId, runId };
    const part = said === "finished" ? [...text("t1", "All."), finished] : PARTS[said];
    for (const event of part ?? [...text(`t-${runId}`, "Here again."), finished]) send(event);
    if (!part) response.end();
  })();
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
