/** JSON text with object keys sorted, so that equal values give equal text. `undefined` members are left out. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((it) => canonical(it ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** A call's arguments in a form that two equal calls share: canonical JSON, else the text itself. Empty means `{}`. */
export function canonicalArguments(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return canonical(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Whether two calls have the same arguments, however they are written. */
export function hasSameArguments(a: Arguments, b: Arguments): boolean {
  return canonicalOf(a) === canonicalOf(b);
}

type Arguments = { readonly arguments: string };

/** Kept by row, since rows do not change: a call is compared with many others. */
const known = new WeakMap<Arguments, string>();

function canonicalOf(call: Arguments): string {
  let args = known.get(call);
  if (args === undefined) known.set(call, (args = canonicalArguments(call.arguments)));
  return args;
}
