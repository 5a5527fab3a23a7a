import { AG_UI_RULES, type AgUiViolation } from "@holdfast/protocol/ag-ui";
import { createParser } from "eventsource-parser";

/** One thing that a stream holds: what should be an event, or what is wrong with how it was written. */
export type Recorded =
  | { readonly event: unknown }
  | { readonly problem: Omit<AgUiViolation, "index"> };

/**
 * The events of a text as they come: server-sent events, a JSON array, or one JSON value a line. Which one its first
 * character says.
 *
 * @throws Error saying what is no JSON, in an array or a line; a frame that is none is a problem of the stream's
 */
export async function* recorded(
  chunks: AsyncIterable<string>,
  { format }: { readonly format?: "sse" } = {},
): AsyncGenerator<Recorded, void, void> {
  let text = "";
  let read: Reader | undefined;
  for await (const chunk of chunks) {
    text += chunk;
    if (!read) text = text.replace(/^\uFEFF/, "");
    const first = /\S/.exec(text)?.[0];
    if (!read && first === undefined) continue;
    read ??= readerOf(format === "sse" ? "" : (first ?? ""));
    yield* read.take(text);
    text = "";
  }
  if (read) yield* read.end();
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
      try {
        found.push({ event: JSON.parse(data) });
      } catch {
        found.push(badFrame(`A frame holds no JSON: ${JSON.stringify(data.slice(0, 80))}.`));
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
        found.push(badFrame("Lines end in CR LF or CR: stock clients read no frame then."));
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

function badFrame(message: string): Recorded {
  return { problem: { rule: "D13", message, ...AG_UI_RULES.D13 } };
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
