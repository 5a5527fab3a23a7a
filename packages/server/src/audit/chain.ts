import { hash } from "node:crypto";
import { actOf, canonical, payloadDigest, type Act, type Entry } from "@holdfast/protocol";
import type { RefusalKind } from "../storage/storage.ts";

/** Where a session's chain has got to: the number and the hash of its last record. */
export interface ChainHead {
  readonly n: number;
  readonly hash: string;
}

/** One act, linked to the one before it. `hash` is of all of it but itself, as canonical JSON. */
export interface ActRecord extends Act, ChainHead {
  readonly kind: "act";
  readonly prev: string;
  readonly offset: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly actor: string;
  /** Of what was written; see `payloadDigest` of the protocol. */
  readonly digest: string;
}

/** One refusal that is kept, linked to the one before it, and the first one to the last act. */
export interface RefusalLink {
  readonly kind: "refusal";
  readonly prev: string;
  readonly hash: string;
  /** Its number in the session's audit. */
  readonly seq: number;
  readonly of: RefusalKind;
  readonly group: string;
  /** SHA-256 of its record as canonical JSON. */
  readonly digest: string;
}

/** SHA-256, hex, of the UTF-8 text. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** What the first record of a session's chain follows: it binds the chain to the session. */
export function chainStart(session: string): ChainHead {
  return { n: 0, hash: sha256(`holdfast audit 1\n${session}`) };
}

/** The record of an entry's act, or undefined for an entry that records none. */
export function linkAct(head: ChainHead, entry: Entry): ActRecord | undefined {
  const act = actOf(entry);
  if (!act) return undefined;
  const { offset, at, actor } = entry;
  const digest = payloadDigest(entry, sha256);
  const link = { kind: "act" as const, n: head.n + 1, prev: head.hash, offset, at, actor };
  const record = { ...link, ...act, digest };
  return { ...record, hash: sha256(canonical(record)) };
}

/** Links refusals, oldest first, behind a chain's last act. */
export function linkRefusals(
  head: ChainHead,
  kept: readonly Omit<RefusalLink, "kind" | "prev" | "hash">[],
): RefusalLink[] {
  let prev = head.hash;
  return kept.map(({ seq, of, group, digest }) => {
    const link = { kind: "refusal" as const, prev, seq, of, group, digest };
    prev = sha256(canonical(link));
    return { ...link, hash: prev };
  });
}

/** The hash that a link must have, whatever it claims. */
export function hashOf({ hash: _, ...link }: { readonly hash: unknown }): string {
  return sha256(canonical(link));
}
