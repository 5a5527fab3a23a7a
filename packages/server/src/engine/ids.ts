import { randomBytes } from "node:crypto";
import type { Env } from "@holdfast/protocol";

/** 96 random bits: what makes a digest tell nothing of the text it is of. */
export function randomSalt(): string {
  return randomBytes(12).toString("base64url");
}

export type IdKind = Parameters<Env["newId"]>[0] | "epoch";

/** A new id, unique anywhere: its kind and 120 random bits. An epoch is 64 of them, in base 36. */
export function randomId(kind: IdKind): string {
  if (kind !== "epoch") return `${kind}_${randomBytes(15).toString("base64url")}`;
  return randomBytes(8).readBigUInt64BE().toString(36).padStart(13, "0");
}
