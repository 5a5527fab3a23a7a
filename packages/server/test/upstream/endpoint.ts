import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";

/** One run that the endpoint was asked for, and its side of the answer. */
export interface Asked {
  readonly input: AgUiInput;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Sends events, each in a frame of its own. */
  send(...events: object[]): Asked;
  /** Sends RUN_STARTED, and these. */
  start(...events: object[]): Asked;
  /** Sends RUN_FINISHED, and ends the answer. */
  finish(more?: object): void;
  write(text: string): Asked;
  /** Ends the answer; whatever was sent is all there is. */
  end(): void;
  /** Breaks the connection. */
  kill(): void;
  readonly response: ServerResponse;
  /** Resolves when whoever asked has gone. */
  readonly closed: Promise<void>;
}

export type Script = (asked: Asked) => void | Promise<void>;

/** An AG-UI agent on loopback that says what its script says, run by run; then what the last one says. */
export async function endpoint(...scripts: Script[]) {
  const asked: Asked[] = [];
  const left = [...scripts];
  const begun: Promise<void>[] = [];
  let script: Script = () => {};
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const input = JSON.parse(Buffer.concat(chunks).toString()) as AgUiInput;
      const { threadId, runId } = input;
      const begin = () => {
        if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
      };
      const run: Asked = {
        input,
        headers: request.headers,
        response,
        closed: new Promise((resolve) => response.on("close", resolve)),
        write(text) {
          begin();
          response.write(text);
          return run;
        },
        send: (...events) =>
          run.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")),
        start: (...events) => run.send({ type: "RUN_STARTED", threadId, runId }, ...events),
        finish(more) {
          run.send({ type: "RUN_FINISHED", threadId, runId, ...more });
          response.end();
        },
        end: () => void response.end(),
        kill: () => void response.destroy(),
      };
      asked.push(run);
      script = left.shift() ?? script;
      const played = Promise.resolve(script(run));
      begun.push(played);
      await played;
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/agent`,
    port,
    asked,
    /** Once every script that was begun has said its last, with what went wrong in it. */
    async played(): Promise<void> {
      await Promise.all(begun);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Endpoint = Awaited<ReturnType<typeof endpoint>>;

export function text(messageId: string, ...deltas: string[]): object[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

export function call(toolCallId: string, toolCallName: string, args = "{}"): object[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

export function result(toolCallId: string, content: string): object {
  return { type: "TOOL_CALL_RESULT", messageId: `r-${toolCallId}`, toolCallId, content };
}
