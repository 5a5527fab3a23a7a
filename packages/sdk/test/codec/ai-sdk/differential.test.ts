import { createEncoder, toUIMessage } from "@holdfast/sdk/codec/ai-sdk";
import { parsePartialJson, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryChunks, plainJson } from "./arbitrary-chunks.ts";
import { json, oracle, rebuilt, throughTheLog } from "./oracle.ts";
import { testSession, type TestSession } from "./session.ts";

/** Encodes; where the agent asked a person, the answer in the stream is the person's decision. */
function play(chunks: readonly UIMessageChunk[]): TestSession {
  const session = testSession();
  const encoder = createEncoder({ runId: session.runId, attempt: 1 });
  for (const chunk of chunks) {
    const asked =
      chunk.type === "tool-approval-response" &&
      [...session.state.calls.values()].some((call) => call.approval?.id === chunk.approvalId);
    if (asked) session.decide(chunk.approvalId, chunk.approved, { reason: chunk.reason ?? "" });
    else session.append(encoder.encode(chunk));
  }
  return session;
}

test("any legal stream gives the message that the AI SDK builds from it", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryChunks, async (chunks) => {
      const session = play(chunks);
      expect(session.refused).toEqual([]);
      expect(rebuilt(session)).toEqual(await oracle(chunks));
    }),
    { numRuns: 100 },
  );
});

test("at any point of a stream the message is the one the AI SDK shows then", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryChunks, fc.nat(), async (chunks, cut) => {
      const end = 1 + (cut % chunks.length);
      const seen = withEchoes(chunks.slice(0, end));
      expect(rebuilt(play(seen))).toEqual(await oracle(seen));
    }),
    { numRuns: 100 },
  );
});

/** The session settles a denied call with the decision; the library waits for the stream to say so. */
function withEchoes(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
  const settled = new Set(
    chunks.flatMap((chunk) => {
      const own = chunk.type === "tool-approval-request" && chunk.isAutomatic === true;
      return own || chunk.type === "tool-output-denied" ? [chunk.toolCallId] : [];
    }),
  );
  const missing = chunks.flatMap((chunk): UIMessageChunk[] => {
    if (chunk.type !== "tool-approval-response" || chunk.approved) return [];
    const toolCallId = chunk.approvalId.slice("a-".length);
    return settled.has(toolCallId) ? [] : [{ type: "tool-output-denied", toolCallId }];
  });
  return [...chunks, ...missing];
}

test("a state read in the middle of a stream is the state that watched it", () => {
  fc.assert(
    fc.property(arbitraryChunks, (chunks) => {
      const session = play(chunks);
      expect(rebuilt(session)).toEqual(json(toUIMessage(session.state, session.runId)));
    }),
    { numRuns: 25 },
  );
});

test("half a JSON text is read as the library reads it", async () => {
  const text = fc
    .tuple(plainJson, fc.nat(2))
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  await fc.assert(
    fc.asyncProperty(text, fc.nat(), async (whole, cut) => {
      const half = whole.slice(0, cut % (whole.length + 1));
      const { parts } = throughTheLog([
        { type: "tool-input-start", toolCallId: "c1", toolName: "t" },
        { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: half },
      ]);
      expect(parts).toMatchObject([{ state: "input-streaming" }]);
      const [part] = parts as { input?: unknown }[];
      expect(part?.input).toEqual(json(await parsePartialJson(half)).value);
    }),
    { numRuns: 400 },
  );
});
