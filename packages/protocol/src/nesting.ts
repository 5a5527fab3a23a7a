/** The deepest nesting that JSON may have: what nests deeper cannot be written out again everywhere. */
export const MOST_DEPTH = 256;

/** Whether valid JSON text nests too deep. Without recursion; most text does not have that many brackets at all. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  if (brackets(text) <= MOST_DEPTH) return false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      depth += 1;
      if (depth > MOST_DEPTH) return true;
    } else if (char === CLOSE_ARRAY || char === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

function brackets(text: string): number {
  let count = 0;
  for (const open of ["[", "{"]) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1)) count += 1;
  }
  return count;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
