/** One member of a JSON object whose text is still arriving. */
export interface PartialMember {
  readonly key: string;
  /** The value's text so far; a string without its quotes, its escapes resolved where they are complete. */
  readonly text: string;
  readonly isString: boolean;
  /** Nothing more of it will come. */
  readonly complete: boolean;
}

/**
 * Reads the members of a top-level JSON object as its text grows. Linear: each character is looked at once, so feed
 * one scanner the same growing text again and again. Text that is no object has no members.
 */
export interface ArgumentScanner {
  read(text: string): readonly PartialMember[];
}

type Place = "start" | "key" | "colon" | "value" | "after" | "end";

export function createArgumentScanner(): ArgumentScanner {
  let seen = "";
  let place: Place = "start";
  let depth = 0;
  let inString = false;
  let escaped = false;
  let from = 0;
  let key = "";
  let done: PartialMember[] = [];

  function restart(): void {
    seen = "";
    place = "start";
    depth = 0;
    inString = escaped = false;
    from = 0;
    key = "";
    done = [];
  }

  function take(char: string, at: number, text: string): void {
    if (inString) {
      if (escaped) escaped = false;
      else if (char === "\\") escaped = true;
      else if (char === '"') {
        inString = false;
        if (place === "key") {
          key = unquote(text.slice(from, at + 1));
          place = "colon";
        }
      }
      return;
    }
    switch (place) {
      case "start":
        if (char === "{") place = "key";
        else if (char.trim() !== "") place = "end";
        return;
      case "key":
        if (char === '"') {
          inString = true;
          from = at;
        } else if (char === "}") place = "end";
        return;
      case "colon":
        if (char === ":") {
          place = "value";
          from = at + 1;
        }
        return;
      case "value":
        if (char === '"') inString = true;
        else if (char === "{" || char === "[") depth += 1;
        else if ((char === "," || char === "}") && depth === 0) {
          done.push(member(text.slice(from, at).trim(), true));
          place = char === "," ? "key" : "end";
        } else if (char === "}" || char === "]") depth -= 1;
        return;
      case "after":
      case "end":
        return;
    }
  }

  function member(text: string, complete: boolean): PartialMember {
    return { key, text: unquote(text), isString: text.startsWith('"'), complete };
  }

  return {
    read(text) {
      if (!text.startsWith(seen)) restart();
      for (let at = seen.length; at < text.length; at += 1) take(text.charAt(at), at, text);
      seen = text;
      if (place === "value") return [...done, member(text.slice(from).trimStart(), false)];
      return place === "colon" ? [...done, member("", false)] : [...done];
    },
  };
}

/** The text a JSON string means, complete or cut anywhere; other JSON as it is. */
function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  const closed = isClosed(text);
  const body = closed ? text : text.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "") + '"';
  try {
    return String(JSON.parse(body));
  } catch {
    return text.slice(1);
  }
}

function isClosed(text: string): boolean {
  if (text.length < 2 || !text.endsWith('"')) return false;
  let slashes = 0;
  while (text.charAt(text.length - 2 - slashes) === "\\") slashes += 1;
  return slashes % 2 === 0;
}
