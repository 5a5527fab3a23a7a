import { hash } from "node:crypto";
import { allowsFor, covers } from "./grants.ts";
import type { Identity } from "./identity.ts";

/**
 * Which tools' data an identity sees in a session, as readers are told apart by it: the same `key` for all whose grants
 * name the same tools there, empty for who sees everything. An attempt sees all of its own session.
 */
export function visibilityOf(
  { principal, grants, attempt }: Identity,
  session: string,
): {
  readonly key: string;
  readonly sees: (tool: string | undefined) => boolean;
  readonly principal: string;
} {
  const verbs = grants.flatMap((grant) => (covers(grant.sessions, session) ? grant.verbs : []));
  const all = verbs.some((verb) => verb === "admin" || verb === "data" || verb === "data:*");
  if (attempt ? attempt.session === session : all) {
    return { key: "", sees: () => true, principal };
  }
  const names = [...new Set(verbs.filter((verb) => verb.startsWith("data:")))].toSorted();
  return {
    key: hash("sha256", JSON.stringify(names), "base64url").slice(0, KEY_LENGTH),
    sees: (tool) => tool !== undefined && allowsFor(grants, session, "data", tool),
    principal,
  };
}

/** 96 bits: nobody can make two sets of tools that share a key. */
const KEY_LENGTH = 16;
