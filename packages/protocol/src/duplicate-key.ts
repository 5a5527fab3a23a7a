/**
 * The JSON pointer of the first member that its object names twice, or undefined. JSON.parse keeps the last of them,
 * other readers the first, so that a person and an executor would not read the same. Names are compared as they are
 * meant: `"a"` and `"\u0061"` are one. One pass, without recursion; the text must be JSON.
 */
export function duplicateKey(text: string): string | undefined {
  const open: Level[] = [];
  let top: Level | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charAt(at)) {
      case "{":
        open.push((top = { names: new Set(), at: "", isName: true }));
        break;
      case "[":
        open.push((top = { at: 0, isName: false }));
        break;
      case "}":
      case "]":
        open.pop();
        top = open.at(-1);
        break;
      case ":":
        if (top) top.isName = false;
        break;
      case ",":
        if (top?.names) top.isName = true;
        else if (top) top.at = Number(top.at) + 1;
        break;
      case '"': {
        const from = at;
        at = endOfString(text, at);
        if (!top?.names || !top.isName) break;
        const name = JSON.parse(text.slice(from, at + 1)) as string; // a JSON string
        top.at = name;
        if (top.names.has(name)) return pointerTo(open);
        top.names.add(name);
        break;
      }
    }
  }
  return undefined;
}

/** An object or array that the scan is in: its member names so far, and which member it is at. */
interface Level {
  readonly names?: Set<string>;
  at: string | number;
  isName: boolean;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function pointerTo(open: readonly Level[]): string {
  return open
    .map(({ at }) => `/${String(at).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
