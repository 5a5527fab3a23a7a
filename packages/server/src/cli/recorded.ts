import { createParser } from "eventsource-parser";
import { BinaryReader } from "./recorded-binary.ts";
import { LONGEST, misread, type Recorded } from "./recorded-item.ts";

/**
 * The events of a stream as it comes: server-sent events, a JSON array, one JSON value a line, or protobuf. Which one its
 * first character says, or its first byte, which is zero in protobuf alone.
 *
 * @throws Error saying what is no JSON, in an array or a line; a frame that is none is a problem of the stream's
 */
export async function* recorded(
  chunks: AsyncIterable<Uint8Array>,
  { format }: { readonly format?: "sse" | "protobuf" } = {},
): AsyncGenerator<Recorded, void, void> {
  // It drops a byte order mark.
  const decoder = new TextDecoder();
  let text = "";
  let read: Reader | undefined;
  let binary: BinaryReader | undefined;
  for await (const chunk of chunks) {
    const isBinary = format === undefined ? chunk[0] === 0 : format === "protobuf";
    if (!read && text === "" && isBinary) binary ??= new BinaryReader();
    if (binary) {
      yield* binary.take(chunk);
      continue;
    }
    text += decoder.decode(chunk, { stream: true });
    const first = /\S/.exec(text)?.[0];
    if (!read && first === undefined) continue;
    read ??= readerOf(format === "sse" ? "" : (first ?? ""));
    yield* read.take(text);
    text = "";
  }
  if (binary) yield* binary.end();
  if (!read) return;
  yield* read.take(decoder.decode());
  yield* read.end();
}

interface Reader {
  take(text: string): Iterable<Recorded>;
  end(): Iterable<Recorded>;
}

function readerOf(first: string): Reader {
  if (first === "[") return arrayReader();
  return first === "{" ? lineReader() : frameReader();
}

function arrayReader(): Reader {
  let text = "";
  return {
    take(more) {
      text += more;
      return [];
    },
    end() {
      const events: unknown = parse(text, "The array");
      return Array.isArray(events) ? events.map((event: unknown) => ({ event })) : [];
    },
  };
}

function lineReader(): Reader {
  let rest = "";
  let number = 0;
  const read = (lines: readonly string[]) =>
    lines.flatMap((line) => {
      number += 1;
      return line.trim() === "" ? [] : [{ event: parse(line, `Line ${number}`) }];
    });
  return {
    take(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      return read(lines);
    },
    end: () => read([rest]),
  };
}

function frameReader(): Reader {
  let found: Recorded[] = [];
  let hasReturns = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data.length > LONGEST) {
        found.push(
          misread(`A frame has ${data.length} characters: stock clients read ${LONGEST} at most.`),
        );
      }
      try {
        found.push({ event: JSON.parse(data) });
      } catch {
        found.push(misread(`A frame holds no JSON: ${JSON.stringify(data.slice(0, 80))}.`));
      }
    },
  });
  const drain = () => {
    const drained = found;
    found = [];
    return drained;
  };
  return {
    take(text) {
      // Inside JSON they are escaped.
      if (!hasReturns && text.includes("\r")) {
        hasReturns = true;
        found.push(misread("Lines end in CR LF or CR: stock clients read no frame then."));
      }
      parser.feed(text);
      return drain();
    },
    end() {
      // The published client takes a last frame that no empty line follows.
      parser.feed("\n\n");
      return drain();
    },
  };
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`${what} is no JSON: ${error instanceof Error ? error.message : ""}`, {
      cause: error,
    });
  }
}
