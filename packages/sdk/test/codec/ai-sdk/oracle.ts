import { createEncoder, toUIMessage } from "@holdfast/sdk/codec/ai-sdk";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { testSession, type TestSession } from "./session.ts";

/** The message the AI SDK itself builds from chunks, on top of `message` where the run goes on. */
export async function oracle(
  chunks: readonly UIMessageChunk[],
  message: UIMessage = { id: "run-1", role: "assistant", parts: [] },
): Promise<UIMessage> {
  const named = chunks.findLast((chunk) => chunk.type === "start" && chunk.messageId !== undefined);
  const id = named?.type === "start" ? (named.messageId ?? message.id) : message.id;
  // The reader shows a message when a part changes; a start of the same id makes it show what it has.
  const shown: UIMessageChunk = { type: "start", messageId: id };
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of structuredClone([...chunks, shown])) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  for await (const snapshot of readUIMessageStream({
    message: structuredClone(message),
    stream,
    onError,
  })) {
    last = snapshot;
  }
  const reported = chunks.filter((chunk) => chunk.type === "error").length;
  if (failures.length > reported) throw failures[reported];
  if (!last) throw new Error("The AI SDK built no message.");
  return json(last);
}

/** Sends chunks through the codec and the log. */
export function encodeInto(
  session: TestSession,
  chunks: readonly UIMessageChunk[],
  attempt = 1,
): void {
  const encoder = createEncoder({ runId: session.runId, attempt });
  for (const chunk of chunks) session.append(encoder.encode(chunk));
}

/** The message rebuilt from a log that went over the wire. */
export function rebuilt(session: TestSession): UIMessage {
  return json(toUIMessage(session.reread(), session.runId));
}

/** The message that comes out of codec and log for these chunks. */
export function throughTheLog(chunks: readonly UIMessageChunk[]): UIMessage {
  const session = testSession();
  encodeInto(session, chunks);
  return rebuilt(session);
}

export function json<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
