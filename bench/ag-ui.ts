import { enforceEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import {
  createAgUiReader,
  createExpandState,
  createVerifyState,
  expandAgUi,
  readAgUi,
  verifyAgUi,
  type AgUiEvent,
} from "@holdfast/protocol/ag-ui";
import { Subject } from "rxjs";
import type { Limit } from "./limits.ts";

/** What judging an AG-UI stream costs. */
export interface AgUiCost {
  /** For people. */
  readonly text: string;
  readonly limits: readonly Limit[];
  readonly report: object;
}

/** The least that the published client's time is to be of ours, as a multiple. */
const LEAST_RATIO = 3;
const MESSAGES = 200;
const DELTAS = 60;

interface Line {
  readonly name: "explicit" | "chunks";
  readonly what: string;
  readonly stream: readonly AgUiEvent[];
}

const LINES: readonly Line[] = [
  {
    name: "explicit",
    what: `${MESSAGES} text messages and calls with their results, ${DELTAS} fragments each`,
    stream: streamOf(explicit),
  },
  {
    name: "chunks",
    what: "the same as chunks, which have to be expanded",
    stream: streamOf(chunked),
  },
];

interface Measured {
  readonly line: Line;
  /** ns an event. */
  readonly ours: number;
  readonly theirs: number;
  /** With enforcement of the schema before. */
  readonly oursWhole: number;
  readonly theirsWhole: number;
}

/**
 * Measures chunk expansion and verification, and the same with enforcement, against the published client's on the same
 * streams, in turn; of many rounds the median ratio counts.
 */
export function agUi({ rounds = 21 }: { readonly rounds?: number } = {}): AgUiCost {
  const measured = LINES.map((line) => measure(line, rounds));
  const rows = measured.flatMap(({ line, ours, theirs, oursWhole, theirsWhole }) => [
    { name: `${line.name}: expand, verify`, ours, theirs },
    { name: `${line.name}: enforce, expand, verify`, ours: oursWhole, theirs: theirsWhole },
  ]);
  return {
    text: [
      "Judging an AG-UI stream, ns an event",
      "",
      "| | holdfast | @ag-ui/client | ratio |",
      "|---|---:|---:|---:|",
      ...rows.map(lineOf),
      "",
      ...LINES.map(({ name, what, stream }) => `${name}: ${what}; ${stream.length} events.`),
    ].join("\n"),
    limits: rows.map(({ name, ours, theirs }) => ({
      what: `AG-UI ${name}: the published client's time, of ours`,
      measured: theirs / ours,
      atLeast: LEAST_RATIO,
      show: (value: number) => `${value.toFixed(1)} x`,
    })),
    report: measured.map(({ line, ...ns }) => ({
      name: line.name,
      events: line.stream.length,
      ...ns,
    })),
  };
}

function measure(line: Line, rounds: number): Measured {
  const { stream } = line;
  const pairs: Record<"bare" | "whole", { ours: number; theirs: number }[]> = {
    bare: [],
    whole: [],
  };
  for (let round = -3; round < rounds; round += 1) {
    const bare = { ours: timed(stream, expandAndVerify), theirs: timed(stream, theirBare) };
    const whole = { ours: timed(stream, readWhole), theirs: timed(stream, theirWhole) };
    if (round < 0) continue; // the compiler is still at work
    pairs.bare.push(bare);
    pairs.whole.push(whole);
  }
  const [bare, whole] = [middle(pairs.bare), middle(pairs.whole)];
  return {
    line,
    ours: bare.ours,
    theirs: bare.theirs,
    oursWhole: whole.ours,
    theirsWhole: whole.theirs,
  };
}

function expandAndVerify(stream: readonly AgUiEvent[]): number {
  const [lanes, state] = [createExpandState(), createVerifyState()];
  let count = 0;
  for (const event of stream) {
    const expanded: AgUiEvent[] = [];
    const broken = expandAgUi(lanes, event, expanded);
    for (const one of expanded) if (!verifyAgUi(state, one, [])) count += 1;
    if (broken) throw new Error(broken.message);
  }
  return count;
}

function readWhole(stream: readonly AgUiEvent[]): number {
  const reader = createAgUiReader();
  let count = 0;
  for (const event of stream) count += readAgUi(reader, event).events.length;
  return count;
}

function theirBare(stream: readonly AgUiEvent[]): number {
  const source = new Subject<BaseEvent>();
  return through(stream, source, source.pipe(transformChunks(), verifyEvents()));
}

function theirWhole(stream: readonly AgUiEvent[]): number {
  const source = new Subject<BaseEvent>();
  return through(stream, source, source.pipe(enforceEvents(), transformChunks(), verifyEvents()));
}

function through(
  stream: readonly AgUiEvent[],
  source: Subject<BaseEvent>,
  judged: ReturnType<Subject<BaseEvent>["asObservable"]>,
): number {
  let count = 0;
  judged.subscribe({
    next: () => (count += 1),
    error: (error: unknown) => {
      throw error;
    },
  });
  for (const event of stream) source.next(event as BaseEvent);
  return count;
}

/** ns an event; both sides must come to as many events. */
function timed(
  stream: readonly AgUiEvent[],
  run: (stream: readonly AgUiEvent[]) => number,
): number {
  const began = process.hrtime.bigint();
  const count = run(stream);
  const took = Number(process.hrtime.bigint() - began);
  if (count < stream.length) throw new Error(`${run.name} lost events.`);
  return took / stream.length;
}

function middle<T extends { ours: number; theirs: number }>(pairs: readonly T[]): T {
  const sorted = pairs.toSorted((a, b) => a.theirs / a.ours - b.theirs / b.ours);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (!found) throw new Error("Nothing was measured.");
  return found;
}

function lineOf({ name, ours, theirs }: { name: string; ours: number; theirs: number }): string {
  return `| ${name} | ${Math.round(ours)} | ${Math.round(theirs)} | ${(theirs / ours).toFixed(1)} |`;
}

function streamOf(item: (n: number) => AgUiEvent[]): AgUiEvent[] {
  const ids = { threadId: "t", runId: "r" };
  const items = Array.from({ length: MESSAGES }, (_, n) => item(n));
  return [{ type: "RUN_STARTED", ...ids }, ...items.flat(), { type: "RUN_FINISHED", ...ids }];
}

function explicit(n: number): AgUiEvent[] {
  const [messageId, toolCallId] = [`message-${n}`, `call-${n}`];
  const deltas = Array.from({ length: DELTAS }, (_, at) => `token ${at} `);
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT" as const, messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "look", parentMessageId: messageId },
    ...deltas.map((delta) => ({ type: "TOOL_CALL_ARGS" as const, toolCallId, delta })),
    { type: "TOOL_CALL_END", toolCallId },
    { type: "TOOL_CALL_RESULT", toolCallId, messageId: `result-${n}`, content: "done" },
  ];
}

function chunked(n: number): AgUiEvent[] {
  const [messageId, toolCallId] = [`message-${n}`, `call-${n}`];
  const deltas = Array.from({ length: DELTAS }, (_, at) => `token ${at} `);
  return [
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CHUNK" as const, messageId, delta })),
    { type: "TOOL_CALL_CHUNK", toolCallId, toolCallName: "look", parentMessageId: messageId },
    ...deltas.map((delta) => ({ type: "TOOL_CALL_CHUNK" as const, delta })),
    { type: "TOOL_CALL_RESULT", toolCallId, messageId: `result-${n}`, content: "done" },
  ];
}
