import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Which provider's HTTP stream to speak. */
export type ProviderProtocol = "openai-responses" | "anthropic";

/** One event of a provider's stream: what stands behind `data:`. */
export type ProviderEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ProviderEndpoint extends AsyncDisposable {
  /** What the provider's client library takes as its base URL. */
  readonly baseURL: string;
  /** The bodies of the requests so far, parsed. */
  readonly requests: readonly unknown[];
}

/**
 * A model provider on loopback: answers the n-th request with the n-th response of a recording, and every later one
 * with a closing text, over the provider's own HTTP protocol.
 */
export async function providerEndpoint(
  protocol: ProviderProtocol,
  recording: readonly ProviderEvent[],
): Promise<ProviderEndpoint> {
  const responses = splitResponses(recording);
  const requests: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push(JSON.parse(await readAll(request)));
    const events = responses[requests.length - 1] ?? CLOSING[protocol];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) {
      const name = protocol === "anthropic" ? `event: ${event.type}\n` : "";
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The words of the closing text, to recognise it by. */
export const CLOSING_TEXT = "That is all.";

/** A recording may hold the responses to several requests, one after another. */
function splitResponses(recording: readonly ProviderEvent[]): ProviderEvent[][] {
  const responses: ProviderEvent[][] = [];
  for (const event of recording) {
    const begins = event.type === "response.created" || event.type === "message_start";
    const current = begins ? undefined : responses.at(-1);
    if (current) current.push(event);
    else responses.push([event]);
  }
  return responses;
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
}

const OPENAI_USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const CLOSING: Readonly<Record<ProviderProtocol, readonly ProviderEvent[]>> = {
  "openai-responses": [
    {
      type: "response.created",
      response: { id: "resp_closing", created_at: 1, model: "closing", status: "in_progress" },
    },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "message", id: "msg_closing" },
    },
    {
      type: "response.output_text.delta",
      item_id: "msg_closing",
      output_index: 0,
      content_index: 0,
      delta: CLOSING_TEXT,
    },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "message", id: "msg_closing" },
    },
    {
      type: "response.completed",
      response: { id: "resp_closing", created_at: 1, model: "closing", usage: OPENAI_USAGE },
    },
  ],
  anthropic: [
    {
      type: "message_start",
      message: {
        id: "msg_closing",
        type: "message",
        role: "assistant",
        model: "closing",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: CLOSING_TEXT },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ],
};
