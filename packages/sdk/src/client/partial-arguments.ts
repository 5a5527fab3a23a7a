import {
  createPartialJson,
  type Call,
  type Entry,
  type Json,
  type PartialJson,
} from "@holdfast/protocol";

/** Readings of calls' arguments while they arrive, for one session. Only calls that are asked about are parsed. */
export interface PartialArguments {
  /**
   * The arguments as far as they can be read; undefined while nothing can, or where they are plain text or hidden. The same
   * row of a call gives the same value. A streamed call is parsed once from end to end, however often it is asked about.
   */
  read(call: Call): Json | undefined;
  /** Must hear of every entry that is folded into the state. */
  hear(entry: Entry): void;
  /** The state was replaced. */
  reset(): void;
}

interface Reading {
  readonly parser: PartialJson;
  /** Deltas that came since the last look. */
  pending: string[];
}

export function createPartialArguments(): PartialArguments {
  const readings = new Map<string, Reading>();
  let known = new WeakMap<Call, { readonly value: Json | undefined }>();

  function whileStreaming(call: Call): Json | undefined {
    let reading = readings.get(call.id);
    if (!reading) {
      reading = { parser: createPartialJson(), pending: [call.arguments] };
      readings.set(call.id, reading);
    }
    for (const piece of reading.pending) reading.parser.feed(piece);
    reading.pending = [];
    return reading.parser.value;
  }

  return {
    read(call) {
      if (call.argumentsEncoding === "text") return undefined;
      const seen = known.get(call);
      if (seen) return seen.value;
      const value = call.status === "streaming" ? whileStreaming(call) : parseWhole(call);
      known.set(call, { value });
      return value;
    },
    hear({ event }) {
      if (readings.size === 0) return;
      if (event.type === "TOOL_CALL_ARGS")
        readings.get(event.toolCallId)?.pending.push(event.delta);
      // Whatever else happens to the text of a call, its reading begins anew.
      else if (event.type === "TOOL_CALL_START" || event.type === "TOOL_CALL_END")
        readings.delete(event.toolCallId);
      else if ("callId" in event) readings.delete(event.callId);
    },
    reset() {
      readings.clear();
      known = new WeakMap();
    },
  };
}

/** Complete arguments. Empty ones mean `{}`; what is no JSON reads as far as it is. */
function parseWhole(call: Call): Json | undefined {
  if (call.redacted && call.arguments === "") return undefined;
  if (call.arguments.trim() === "") return {};
  try {
    return JSON.parse(call.arguments) as Json;
  } catch {
    const parser = createPartialJson();
    parser.feed(call.arguments);
    return parser.value;
  }
}
