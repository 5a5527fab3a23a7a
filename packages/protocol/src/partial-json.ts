import type { Json } from "./json.ts";

/**
 * Reads JSON text as it grows: each character is looked at once, whatever the size of the pieces (SPEC 4.3). After any
 * piece, `value` is the best reading of what came so far: open strings, arrays and objects as far as they go, a begun
 * literal as the only thing it can become, a number up to its last complete digit; a key without a value is left out.
 *
 * Synchronous, and lenient to the end: text that stops being JSON keeps the last good reading. Like `JSON.parse`, the
 * last of equal keys wins and `__proto__` is a key like any other.
 */
export interface PartialJson {
  feed(piece: string): void;
  /** Undefined while nothing can be read. Values are never mutated once given: what changed is a new object. */
  readonly value: Json | undefined;
  /** `done` once the value is complete, `invalid` once the text cannot be JSON any more. */
  readonly status: "partial" | "done" | "invalid";
  /** Characters looked at so far. */
  readonly scanned: number;
}

type Container = { kind: "array"; value: Json[] } | { kind: "object"; value: JsonObject };
type JsonObject = { [key: string]: Json | undefined };

/** An open container: its value is `given` away when read, and copied before it changes again. */
type Open = Container & { given: boolean; key: string | undefined };

/** What may come next. */
type Expect =
  | "value"
  | "value-or-end"
  | "key-or-end"
  | "key"
  | "colon"
  | "comma-or-end"
  | "nothing";

export function createPartialJson(): PartialJson {
  const stack: Open[] = [];
  let root: Json | undefined;
  let expect: Expect = "value";
  // The token that is open: a string (`"` for a value, `k` for a key), a literal or number (`w`), or none.
  let token: "" | '"' | "k" | "w" = "";
  let text = "";
  let escape = "";
  let invalid = false;
  let scanned = 0;

  function fail(): void {
    invalid = true;
  }

  /** Puts a value where one is expected. */
  function place(value: Json): void {
    const top = stack.at(-1);
    if (!top) root = value;
    else {
      own(top);
      if (top.kind === "array") top.value.push(value);
      else if (top.key !== undefined) define(top.value, top.key, value);
    }
    expect = top ? "comma-or-end" : "nothing";
  }

  /** Replaces the value that was placed last in the container. */
  function own(open: Open): void {
    if (!open.given) return;
    open.given = false;
    if (open.kind === "array") open.value = [...open.value];
    else open.value = { ...open.value };
  }

  function begin(container: Container): void {
    stack.push({ ...container, given: false, key: undefined });
    expect = container.kind === "array" ? "value-or-end" : "key-or-end";
  }

  function end(kind: Container["kind"]): void {
    const top = stack.pop();
    if (top?.kind !== kind) return fail();
    place(top.value);
  }

  function endWord(): void {
    const value = wordValue(text, true);
    token = "";
    if (value === undefined) fail();
    else place(value);
  }

  /** Reads from `at` inside a string; gives where it goes on. */
  function readString(piece: string, at: number): number {
    let from = at;
    for (; at < piece.length; at += 1) {
      const char = piece[at] ?? "";
      scanned += 1;
      if (escape !== "") {
        escape += char;
        if (escape[1] !== "u" ? true : escape.length === 6) {
          const decoded = decodeEscape(escape);
          if (decoded === undefined) return (fail(), at);
          text += decoded;
          escape = "";
        }
        from = at + 1;
      } else if (char === "\\") {
        text += piece.slice(from, at);
        escape = char;
        from = at + 1;
      } else if (char === '"') {
        text += piece.slice(from, at);
        endString();
        return at + 1;
      } else if (char < " ") return (fail(), at);
    }
    text += piece.slice(from);
    return at;
  }

  function endString(): void {
    if (token === "k") {
      const top = stack.at(-1);
      if (top) top.key = text;
      expect = "colon";
    } else place(text);
    token = "";
  }

  function startToken(kind: '"' | "k" | "w", first: string): void {
    token = kind;
    text = first;
  }

  /** One character outside strings. */
  function step(char: string): void {
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return;
    switch (expect) {
      case "value-or-end":
      case "value":
        if (char === "]" && expect === "value-or-end") return end("array");
        if (char === "{") return begin({ kind: "object", value: {} });
        if (char === "[") return begin({ kind: "array", value: [] });
        if (char === '"') return startToken('"', "");
        return WORD.test(char) ? startToken("w", char) : fail();
      case "key-or-end":
      case "key":
        if (char === "}" && expect === "key-or-end") return end("object");
        return char === '"' ? startToken("k", "") : fail();
      case "colon":
        expect = "value";
        return char === ":" ? undefined : fail();
      case "comma-or-end": {
        if (char === "]") return end("array");
        if (char === "}") return end("object");
        expect = stack.at(-1)?.kind === "array" ? "value" : "key";
        return char === "," ? undefined : fail();
      }
      case "nothing":
        return fail();
    }
  }

  return {
    feed(piece) {
      let at = 0;
      while (at < piece.length && !invalid) {
        if (token === '"' || token === "k") {
          at = readString(piece, at);
          continue;
        }
        const char = piece[at] ?? "";
        if (token === "w") {
          if (WORD.test(char)) {
            text += char;
            scanned += 1;
            at += 1;
            // Each look reads an open word again, so it must stay short; no sane number is longer.
            if (text.length > 400) fail();
            continue;
          }
          endWord();
          continue;
        }
        scanned += 1;
        at += 1;
        step(char);
      }
    },
    get value() {
      const last = token === '"' ? text : token === "w" ? wordValue(text, false) : undefined;
      let inner = last;
      for (let depth = stack.length - 1; depth >= 0; depth -= 1) {
        const open = stack[depth];
        if (!open) break;
        inner = withLast(open, inner);
      }
      return inner === undefined && stack.length === 0 ? root : inner;
    },
    get status() {
      if (invalid) return "invalid";
      return stack.length === 0 && token === "" && root !== undefined ? "done" : "partial";
    },
    get scanned() {
      return scanned;
    },
  };
}

/** An open container as it reads with its unfinished last value, without changing it. */
function withLast(open: Open, last: Json | undefined): Json {
  if (last === undefined) {
    open.given = true;
    return open.value;
  }
  if (open.kind === "array") return [...open.value, last];
  const copy = { ...open.value };
  if (open.key !== undefined) define(copy, open.key, last);
  return copy;
}

function define(target: JsonObject, key: string, value: Json): void {
  // Plain assignment would set the prototype.
  if (key === "__proto__")
    Object.defineProperty(target, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  else target[key] = value;
}

const WORD = /[-+.0-9A-Za-z]/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/;
const LITERALS: readonly (readonly [string, Json])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/** A literal's or number's value; of an unfinished one, what is certain so far. */
function wordValue(word: string, complete: boolean): Json | undefined {
  for (const [literal, value] of LITERALS)
    if (complete ? literal === word : literal.startsWith(word)) return value;
  const digits = NUMBER.exec(word)?.[0];
  if (digits === undefined || (complete && digits !== word)) return undefined;
  return Number(digits);
}

function decodeEscape(escape: string): string | undefined {
  const simple = SIMPLE_ESCAPES.get(escape[1] ?? "");
  if (simple !== undefined) return simple;
  const code = /^\\u([0-9a-fA-F]{4})$/.exec(escape)?.[1];
  return code === undefined ? undefined : String.fromCharCode(Number.parseInt(code, 16));
}

const SIMPLE_ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
