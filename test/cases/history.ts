import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import type { House } from "./support.ts";

type History = Awaited<ReturnType<typeof aiSdk.history>>;

/** What a model is sent for a run. */
export async function historyOf(house: House, runId: string): Promise<History> {
  return aiSdk.history(await house.state(), { runId });
}

/** The calls of a history, each as often as it is there. */
export function callsIn(history: History): string[] {
  return idsOf(history, "tool-call");
}

/** The calls that have a result in a history, each as often as it has one. */
export function resultsOf(history: History): string[] {
  return idsOf(history, "tool-result");
}

/** What a history says became of a call. */
export function resultIn(history: History, callId: string): unknown {
  return partsOf(history).find(
    ({ type, toolCallId }) => type === "tool-result" && toolCallId === callId,
  );
}

/** The arguments that a model is told it gave, call by call. */
export function inputsIn(history: History): unknown[] {
  return partsOf(history).flatMap((part) => (part.type === "tool-call" ? [part.input] : []));
}

function idsOf(history: History, kind: string): string[] {
  return partsOf(history).flatMap(({ type, toolCallId }) =>
    type === kind && toolCallId !== undefined ? [toolCallId] : [],
  );
}

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly input?: unknown;
}

function partsOf(history: History): Part[] {
  return history.flatMap<Part>(({ content }) => (typeof content === "string" ? [] : [...content]));
}
