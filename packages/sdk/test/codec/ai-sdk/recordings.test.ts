import { toModelMessages, toUIMessage } from "@holdfast/sdk/codec/ai-sdk";
import { convertToModelMessages, type UIMessage, type UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { providerModel, streamChunks, toolsOf } from "../../support/provider-agent.ts";
import { providerEndpoint } from "../../support/provider-endpoint.ts";
import { ownRecordings, recordings, type Recording } from "../../support/recordings.ts";
import { encodeInto, json, oracle, rebuilt } from "./oracle.ts";
import { stateOf, testSession, withoutMetadata } from "./session.ts";

async function replay(recording: Recording): Promise<UIMessageChunk[]> {
  await using endpoint = await providerEndpoint(recording.protocol, recording.events);
  const chunks: UIMessageChunk[] = [];
  const stream = streamChunks({
    model: providerModel(recording.protocol, endpoint.baseURL),
    tools: toolsOf(recording),
    messages: [{ role: "user", content: "Go." }],
  });
  for await (const chunk of stream) chunks.push(json(chunk));
  return chunks;
}

/** What a message says, without what only the framework reads. */
function content(message: UIMessage): unknown[] {
  return message.parts.flatMap((part): unknown[] => {
    if (part.type === "text" || part.type === "reasoning") return [part.text];
    if (!("toolCallId" in part)) return [];
    const name = "toolName" in part ? part.toolName : part.type.slice("tool-".length);
    const { output, errorText } = part;
    return [{ name, input: part.input, output, errorText }];
  });
}

function replays(all: readonly Recording[]) {
  test.each(all.map((recording) => [recording.name, recording] as const))(
    "%s: rebuilt from the log equals what the AI SDK builds",
    async (name, recording) => {
      const chunks = await replay(recording);
      const session = testSession();
      encodeInto(session, chunks);
      expect(session.refused).toEqual([]);
      const expected = await oracle(chunks);
      expect(rebuilt(session)).toEqual(expected);

      if (name.endsWith("/error")) {
        expect(chunks.map((chunk) => chunk.type)).toContain("error");
        return;
      }
      expect(expected.parts.length).toBeGreaterThan(1);
      // A call that waits for a person has a placeholder in our history, and nothing in the library's.
      if (!name.includes("approval")) {
        const [, ...history] = await toModelMessages(session.reread(), { runId: session.runId });
        expect(json(history)).toEqual(json(await convertToModelMessages([expected])));
      }
      const bare = toUIMessage(stateOf(withoutMetadata(session.entries)), session.runId);
      expect(json(content(bare))).toEqual(json(content(expected)));
    },
  );

  test.each(all.map((recording) => [recording.name, recording] as const))(
    "%s: once its run is erased, page and model are shown nothing of it",
    async (_name, recording) => {
      const session = testSession();
      encodeInto(session, await replay(recording));
      session.user({ type: "run.cancel", runId: session.runId });
      const { runId } = session;
      expect(session.user({ type: "content.erase", runId })).toMatchObject({ status: "applied" });
      const { metadata, parts } = toUIMessage(session.reread(), runId);
      expect(metadata).toBeUndefined();
      for (const part of parts) if ("text" in part) expect(part.text).toBe("[erased]");
      for (const part of parts)
        if ("toolCallId" in part) expect([{}, "", undefined]).toContainEqual(part.input);
      expect((await toModelMessages(session.reread(), { runId })).length).toBeGreaterThan(0);
    },
  );
}

describe("recordings of our own", () => {
  replays(ownRecordings());
});

const shared = recordings();
describe.skipIf(shared === undefined)("recordings beside the checkout", () => {
  replays(shared ?? []);
});
