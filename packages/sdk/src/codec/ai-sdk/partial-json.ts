/**
 * Reads as much as there is of a JSON text that is still being written: open strings, arrays and objects are closed
 * where the text ends, half a literal is completed, and a key without a value is left out. Linear.
 *
 * @returns undefined where nothing can be read yet, and for text that is no beginning of JSON
 */
export function parsePartialJson(text: string): unknown {
  return parse(text) ?? parse(complete(text));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a scanner expects next inside an object. */
type Expects = "key" | "colon" | "value" | "comma";

/**
 * Cuts at the last point where the text could end after adding what closes it, and adds that. Between that point and
 * the text's end no bracket opens or closes, so the brackets open at the end are those open at the cut.
 */
function complete(text: string): string {
  const open: ("}" | "]")[] = [];
  const expects: Expects[] = [];
  let cut = 0;
  let suffix = "";
  let at = 0;
  const keep = (end: number, closing = "") => {
    cut = end;
    suffix = closing;
  };
  const valueEnded = () => {
    if (open.at(-1) === "}") expects[expects.length - 1] = "comma";
  };
  while (at < text.length) {
    const char = text.charAt(at);
    const isKey = open.at(-1) === "}" && expects.at(-1) === "key";
    if (char === '"') {
      const string = scanString(text, at);
      if (isKey) {
        if (!string.closed) break;
        expects[expects.length - 1] = "colon";
      } else {
        keep(string.end, string.closed ? "" : '"');
        if (!string.closed) break;
        valueEnded();
      }
      at = string.next;
    } else if (char === "{" || char === "[") {
      open.push(char === "{" ? "}" : "]");
      expects.push(char === "{" ? "key" : "value");
      keep(++at);
    } else if (char === "}" || char === "]") {
      open.pop();
      expects.pop();
      valueEnded();
      keep(++at);
      if (open.length === 0) break;
    } else if (char === ":") {
      expects[expects.length - 1] = "value";
      at++;
    } else if (char === ",") {
      if (open.at(-1) === "}") expects[expects.length - 1] = "key";
      at++;
    } else if (/\s/.test(char)) {
      at++;
    } else {
      const word = /[^\s,:{}[\]"]+/y;
      word.lastIndex = at;
      const scalar = word.exec(text)?.[0] ?? char;
      const closing = completeScalar(scalar);
      if (closing !== undefined) keep(at + closing.length, closing.suffix);
      valueEnded();
      at += scalar.length;
    }
  }
  return text.slice(0, cut) + suffix + open.toReversed().join("");
}

/** `end`: after the last character that may stand before an added quote; `next`: where scanning goes on. */
function scanString(text: string, start: number): { end: number; next: number; closed: boolean } {
  let at = start + 1;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '"') return { end: at + 1, next: at + 1, closed: true };
    const length = char !== "\\" ? 1 : text.charAt(at + 1) === "u" ? 6 : 2;
    if (at + length > text.length) break;
    at += length;
  }
  return { end: at, next: text.length, closed: false };
}

/** How much of a literal or number stands, and what completes it; undefined where nothing of it does. */
function completeScalar(scalar: string): { length: number; suffix: string } | undefined {
  for (const literal of ["true", "false", "null"]) {
    if (literal.startsWith(scalar))
      return { length: scalar.length, suffix: literal.slice(scalar.length) };
  }
  const digits = /^-?\d+(\.\d+)?([eE][+-]?\d+)?/.exec(scalar)?.[0];
  return digits === undefined ? undefined : { length: digits.length, suffix: "" };
}
