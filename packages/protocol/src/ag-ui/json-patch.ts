import jsonPatch, { type Operation } from "fast-json-patch";
import { isObject } from "../json.ts";

/**
 * A document after an RFC 6902 patch, which changes all it says or nothing: undefined where it does not apply or is no
 * patch. Neither document nor patch are changed.
 */
export function patched(
  document: unknown,
  patch: unknown,
): { readonly value: unknown } | undefined {
  if (!isPatch(patch)) return undefined;
  try {
    // What a patch puts in, its later operations may change.
    const own = jsonPatch.deepClone(patch) as Operation[];
    return { value: jsonPatch.applyPatch(document, own, true, false).newDocument };
  } catch {
    return undefined;
  }
}

const POINTER = /^(?:\/(?:[^/~]|~[01])*)*$/;
const isPointer = (value: unknown) => typeof value === "string" && POINTER.test(value);

/** Whether something is a patch as AG-UI takes it. */
export function isPatch(patch: unknown): patch is Operation[] {
  return Array.isArray(patch) && patch.every(isOperation);
}

/**
 * Whether a patch leaves an object an object, as what an activity holds has to be: of the whole it says nothing but what
 * object it is.
 */
export function isObjectPatch(patch: unknown): patch is Operation[] {
  return (
    isPatch(patch) &&
    patch.every((operation) => {
      const isWhole = operation.path === "" && operation.op !== "test";
      return !isWhole || ("value" in operation && isObject(operation.value));
    })
  );
}

function isOperation(operation: unknown): boolean {
  if (!isObject(operation) || !isPointer(operation["path"])) return false;
  switch (operation["op"]) {
    case "add":
    case "replace":
    case "test":
      return operation["value"] !== undefined;
    case "remove":
      return true;
    case "move":
    case "copy":
      return isPointer(operation["from"]);
    default:
      return false;
  }
}
