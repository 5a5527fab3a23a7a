import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyState, reduceAll, toOffset } from "@holdfast/protocol";
import { worker } from "@holdfast/sdk/agent";
import { aiSdk, toUIMessage } from "@holdfast/sdk/codec/ai-sdk";
import type { ModelMessage, ToolSet, UIMessageChunk } from "ai";
import { createServer, openSqlite } from "holdfast";
import { describe, expect, test } from "vitest";
import { json, oracle } from "../../packages/sdk/test/codec/ai-sdk/oracle.ts";
import {
  providerModel,
  streamChunks,
  toolsOf,
} from "../../packages/sdk/test/support/provider-agent.ts";
import { providerEndpoint } from "../../packages/sdk/test/support/provider-endpoint.ts";
import {
  ownRecordings,
  recordings,
  type Recording,
} from "../../packages/sdk/test/support/recordings.ts";
import { devToken, wire } from "../support/wire.ts";

const SESSION = "recorded";
const SECRET = crypto.getRandomValues(new Uint8Array(32));

// The whole way: the provider's protocol over HTTP, the real client library under `streamText`, the worker, the wire,
// SQLite, a restart, and back.
function survives(all: readonly Recording[]) {
  test.each(all.map((recording) => [recording.name, recording] as const))(
    "%s: after a restart, entries read over HTTP rebuild what the AI SDK built",
    async (_name, recording) => {
      const directory = await mkdtemp(join(tmpdir(), "holdfast-recordings-"));
      try {
        const { chunks, runId } = await record(directory, recording);
        const message = await reread(directory, runId);
        expect(message).toEqual(await oracle(chunks, { id: runId, role: "assistant", parts: [] }));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
}

/** Runs an agent on the recording, on a server that is closed when the run waits or has ended. */
async function record(directory: string, recording: Recording) {
  await using endpoint = await providerEndpoint(recording.protocol, recording.events);
  await using house = await open(directory);
  const ana = wire(house.url, await devToken(house.url, { name: "ana" }));
  await ana.create(SESSION, "demo");
  const chunks: UIMessageChunk[] = [];
  const refused: unknown[] = [];
  await using agent = worker<UIMessageChunk, ModelMessage[], ToolSet>({
    url: house.url,
    token: await devToken(house.url, { agent: "demo" }),
    agent: "demo",
    codec: aiSdk,
    tools: toolsOf(recording),
    onRefused: (item) => void refused.push(item),
    async handler(run) {
      const stream = streamChunks({
        model: providerModel(recording.protocol, endpoint.baseURL),
        ...run.tools(),
        messages: await run.history(),
        messageId: run.id,
      });
      await run.pipe(
        stream.pipeThrough(
          new TransformStream<UIMessageChunk, UIMessageChunk>({
            transform(chunk, controller) {
              chunks.push(json(chunk));
              controller.enqueue(chunk);
            },
          }),
        ),
      );
    },
  });
  const sent = { type: "message.send", messageId: "m1", content: "Go." } as const;
  const { runId = "" } = await ana.command(SESSION, sent);
  await ana.until(
    SESSION,
    ({ runs }) => runs[0]?.status === "ended" || runs[0]?.status === "suspended",
  );
  await agent.stop();
  expect(refused).toEqual([]);
  return { chunks, runId };
}

/** What a reader makes of the log's entries on a server that was just started on the directory. */
async function reread(directory: string, runId: string) {
  await using house = await open(directory);
  const entries = await wire(house.url, await devToken(house.url, { name: "bo" })).entries(SESSION);
  const state = emptyState(toOffset("0", 0), { id: SESSION, createdAt: 0 });
  reduceAll(state, entries);
  return json(toUIMessage(state, runId));
}

async function open(directory: string) {
  const storage = await openSqlite({ directory });
  const server = createServer({ storage, secret: SECRET, dev: true });
  const { url } = await server.listen();
  return {
    url,
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

describe("recordings of our own", () => {
  survives(ownRecordings());
});

const shared = recordings();
describe.skipIf(shared === undefined)("recordings beside the checkout", () => {
  survives(shared ?? []);
});
