import type { Metadata } from "../../json.ts";
import { AG_UI } from "../interrupt.ts";

/** Metadata as an agent sent it, with what the protocol has no place for under AG-UI's name; nothing where there is none. */
export function withOwn(
  metadata: Metadata | undefined,
  own: Readonly<Record<string, unknown>>,
): { readonly metadata?: Metadata } {
  const said = Object.entries(own).filter(([, value]) => value !== undefined);
  if (said.length === 0) return metadata === undefined ? {} : { metadata };
  const before = metadata?.[AG_UI];
  const kept = typeof before === "object" && before !== null ? before : {};
  return { metadata: { ...metadata, [AG_UI]: { ...kept, ...Object.fromEntries(said) } } };
}
