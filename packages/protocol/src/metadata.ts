import { isObject, type Metadata } from "./json.ts";

/**
 * Adds what an event says to what a row holds: owner by owner, and within one owner's object key by key, so that
 * each event brings only what is new. Anything deeper, and a value that is no plain object, is replaced.
 */
export function mergeMetadata(base: Metadata | undefined, more: Metadata): Metadata {
  const merged: Metadata = { ...base };
  for (const owner of Object.keys(more)) {
    const [before, after] = [merged[owner], more[owner]];
    Object.defineProperty(merged, owner, {
      value: isObject(before) && isObject(after) ? { ...before, ...after } : after,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return merged;
}

/** What a row holds after a patch: a member that is null goes, any other takes the place of what was there. */
export function patchMetadata(base: Metadata | undefined, patch: Metadata): Metadata {
  // Spreading and `fromEntries` make a member of any name, `__proto__` too.
  const patched = Object.entries({ ...base, ...patch });
  return Object.fromEntries(
    patched.filter(([name, value]) => value !== null || !Object.hasOwn(patch, name)),
  );
}
