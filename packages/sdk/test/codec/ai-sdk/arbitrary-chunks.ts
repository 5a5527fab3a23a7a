import type { UIMessageChunk } from "ai";
import fc from "fast-check";

/** Chunks of one thing, in order; what `later` holds may come after its step. */
interface Track {
  readonly now: UIMessageChunk[];
  readonly later: UIMessageChunk[];
}

/** A step, or the beginning of one that is reset. */
interface Step {
  readonly tracks: readonly Track[];
  readonly schedule: readonly number[];
  readonly reset: boolean;
}

const metadata = fc.option(fc.constantFrom({ p: { a: 1 } }, { p: { b: 2 } }, { q: { c: null } }), {
  nil: undefined,
});
const text = fc.string({ unit: "grapheme", maxLength: 8 });

/**
 * JSON whose beginnings the library reads like everybody else: it stumbles over the plus of an exponent, and refuses
 * keys that could reach a prototype.
 */
export const plainJson = fc
  .jsonValue({ maxDepth: 2, stringUnit: "binary" })
  .filter((value) => !/e\+|__proto__|constructor/.test(JSON.stringify(value)));
const value = plainJson;

function chunk(fields: Record<string, unknown>): UIMessageChunk {
  return JSON.parse(JSON.stringify(fields)) as UIMessageChunk;
}

function textTrack(kind: "text" | "reasoning", id: string): fc.Arbitrary<Track> {
  const delta = fc.record({ delta: text, providerMetadata: metadata });
  return fc.tuple(metadata, fc.array(delta, { maxLength: 4 }), metadata).map(([a, deltas, b]) => ({
    now: [
      chunk({ type: `${kind}-start`, id, providerMetadata: a }),
      ...deltas.map((it) => chunk({ type: `${kind}-delta`, id, ...it })),
      chunk({ type: `${kind}-end`, id, providerMetadata: b }),
    ],
    later: [],
  }));
}

const wholeTrack: fc.Arbitrary<Track> = fc
  .oneof(
    fc.record({
      type: fc.constant("file"),
      url: text,
      mediaType: text,
      providerMetadata: metadata,
    }),
    fc.record({ type: fc.constant("reasoning-file"), url: text, mediaType: text }),
    fc.record({ type: fc.constant("source-url"), sourceId: text, url: text, title: text }),
    fc.record({
      type: fc.constant("custom"),
      kind: fc.constant("x.y"),
      providerMetadata: metadata,
    }),
    fc.record({
      type: fc.constant("message-metadata"),
      messageMetadata: fc.dictionary(text, value),
    }),
    fc.record({
      type: fc.constantFrom("data-a", "data-b"),
      id: fc.constantFrom("1", "2", undefined),
      data: value,
      transient: fc.constantFrom(true, undefined),
      extra: fc.constantFrom("kept", undefined),
    }),
    fc.record({
      type: fc.constant("steering-message"),
      id: text,
      parts: fc.constant([{ type: "text", text: "Faster." }]),
    }),
  )
  .map((fields) => ({ now: [chunk(fields)], later: [] }));

const flags = fc.record({
  dynamic: fc.constantFrom(true, undefined),
  providerExecuted: fc.constantFrom(true, false, undefined),
  title: fc.constantFrom("Title", undefined),
  toolMetadata: fc.constantFrom({ kind: "mcp" }, undefined),
});

/** How the input of a call is streamed, and what it is in the end. */
const inputs = fc.oneof(
  value.map((input) => ({ streamed: JSON.stringify(input), input })),
  fc.tuple(value, value).map(([a, input]) => ({ streamed: JSON.stringify(a, null, 1), input })),
  fc.tuple(text, value).map(([streamed, input]) => ({ streamed, input })),
  text.map((it) => ({ streamed: it, input: it, inputEncoding: "text" })),
  fc.tuple(text, value).map(([it, input]) => ({ streamed: it, input, inputEncoding: "text" })),
  value.map((input) => ({ streamed: undefined, input })),
  fc.constant({ streamed: undefined, input: undefined }),
  fc.constant({ streamed: "", input: {} }),
  fc.constant({ streamed: "", input: undefined }),
);

const outcomes = fc.constantFrom(
  "none",
  "output",
  "error",
  "progress",
  "progress-output",
  "input-error",
  "input-error-output",
  "approved",
  "denied",
  "asked",
  "auto-approved",
  "auto-denied",
);

function callTrack(toolCallId: string): fc.Arbitrary<Track> {
  return fc
    .record({
      flags,
      toolName: fc.constantFrom("weather", "__proto__", "a-b"),
      input: inputs,
      outcome: outcomes,
      outputs: fc.array(fc.oneof(value, fc.constantFrom(0, "", false, null, undefined)), {
        minLength: 2,
        maxLength: 2,
      }),
      metadata: fc.array(metadata, { minLength: 4, maxLength: 4 }),
      cuts: fc.array(fc.nat(20), { maxLength: 3 }),
      outputFlags: fc.constantFrom({}, { preliminary: false }, { toolMetadata: { kind: "late" } }),
    })
    .map((it) => {
      const approvalId = `a-${toolCallId}`;
      const named = { toolCallId, toolName: it.toolName, ...it.flags };
      const { streamed, input } = it.input;
      const now: UIMessageChunk[] = [];
      const later: UIMessageChunk[] = [];
      if (streamed !== undefined) {
        const { inputEncoding } = it.input as { inputEncoding?: string };
        now.push(
          chunk({
            type: "tool-input-start",
            ...named,
            inputEncoding,
            providerMetadata: it.metadata[0],
          }),
          ...pieces(streamed, it.cuts).map((inputTextDelta) =>
            chunk({ type: "tool-input-delta", toolCallId, inputTextDelta }),
          ),
        );
      }
      const providerMetadata = it.metadata[1];
      const isError = it.outcome.startsWith("input-error");
      now.push(
        isError
          ? chunk({
              type: "tool-input-error",
              ...named,
              input: streamed ?? input,
              errorText: "bad",
              providerMetadata,
            })
          : chunk({ type: "tool-input-available", ...named, input, providerMetadata }),
      );
      const output = (preliminary?: boolean) =>
        chunk({
          type: "tool-output-available",
          toolCallId,
          output: it.outputs[preliminary ? 1 : 0],
          providerMetadata: it.metadata[preliminary ? 2 : 3],
          ...(preliminary ? { preliminary } : it.outputFlags),
        });
      const request = (fields: object) =>
        chunk({
          type: "tool-approval-request",
          approvalId,
          toolCallId,
          reason: "why",
          inputSchemaInput: input,
          approvalDescriptor: it.outputs[1],
          ...fields,
        });
      const respond = (approved: boolean) =>
        chunk({ type: "tool-approval-response", approvalId, approved, reason: "since" });
      const denied = chunk({ type: "tool-output-denied", toolCallId });
      switch (it.outcome) {
        case "none":
        case "input-error":
          break;
        case "output":
          later.push(output());
          break;
        case "error":
          later.push(chunk({ type: "tool-output-error", toolCallId, errorText: "failed" }));
          break;
        case "progress":
          later.push(output(true));
          break;
        case "progress-output":
          later.push(output(true), output(true), output());
          break;
        case "input-error-output":
          // Only a provider goes on after an error in the input.
          if (it.flags.providerExecuted) later.push(output());
          break;
        case "asked":
          now.push(request({}));
          break;
        case "approved":
          now.push(request({ signature: "s" }));
          later.push(respond(true), output());
          break;
        case "denied":
          now.push(request({}));
          later.push(respond(false), denied);
          break;
        case "auto-approved":
          now.push(request({ isAutomatic: true }), respond(true));
          later.push(output());
          break;
        case "auto-denied":
          now.push(request({ isAutomatic: true }), respond(false));
          later.push(denied);
          break;
      }
      return { now, later };
    });
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const points = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
  return points.slice(1).flatMap((end, i) => {
    const piece = text.slice(points[i], end);
    return piece === "" ? [] : [piece];
  });
}

function stepOf(index: number): fc.Arbitrary<Step> {
  const track = (slot: number) =>
    fc.oneof(
      textTrack("text", `${slot}`),
      textTrack("reasoning", `${slot}`),
      callTrack(`c${index}-${slot}`),
      wholeTrack,
    );
  return fc.record({
    tracks: fc.tuple(track(0), track(1), track(2), track(3)),
    schedule: fc.array(fc.nat(3), { maxLength: 24 }),
    reset: fc.boolean(),
  });
}

/** Takes turns between tracks as the schedule says, then lets each run out. */
function interleave(tracks: readonly UIMessageChunk[][], schedule: readonly number[]) {
  const left = tracks.map((track) => [...track]);
  const taken = schedule.flatMap((index) => left[index]?.splice(0, 1) ?? []);
  return { taken, rest: left.flat() };
}

/** Streams as `streamText` and its like may write them: steps, with everything in them interleaved, and resets. */
export const arbitraryChunks: fc.Arbitrary<UIMessageChunk[]> = fc
  .record({
    steps: fc.tuple(stepOf(0), stepOf(1), stepOf(2)),
    start: fc.dictionary(text, value),
    finish: fc.dictionary(text, value),
  })
  .map(({ steps, start, finish }) => [
    chunk({ type: "start", messageId: "m1", messageMetadata: start }),
    ...steps.flatMap(({ tracks, schedule, reset }) => {
      const inStep = interleave(
        tracks.map((track) => track.now),
        schedule,
      );
      // Nothing in a step that is reset outlives it, and a data part would write into an earlier step.
      const taken = reset
        ? inStep.taken.filter(
            (it) => !it.type.startsWith("data-") && it.type !== "message-metadata",
          )
        : inStep.taken;
      const after = interleave(
        tracks.map((track) => track.later),
        schedule,
      );
      return [
        chunk({ type: "start-step" }),
        ...taken,
        ...(reset
          ? [chunk({ type: "reset-step" }), chunk({ type: "finish-step" })]
          : [...inStep.rest, chunk({ type: "finish-step" }), ...after.taken, ...after.rest]),
      ];
    }),
    chunk({ type: "finish", finishReason: "stop", messageMetadata: finish }),
  ]);
