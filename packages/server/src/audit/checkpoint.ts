import { canonical } from "@holdfast/protocol";
import type { ChainHead } from "./chain.ts";
import { isSigned, type AuditKey } from "./key.ts";

/** Signed: how a session's chain stood at a time. An `end` is the last line of an export. */
export interface Checkpoint extends ChainHead {
  readonly kind: "checkpoint" | "end";
  readonly session: string;
  /** The log's head it was made at. */
  readonly offset: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly refusals: RefusalsKept;
  /** Of an end: how many checkpoints the export holds. */
  readonly checkpoints?: number;
  /** The public key of the signature. */
  readonly key: string;
  readonly signature: string;
}

/** The refusals that were kept at a checkpoint. */
export interface RefusalsKept {
  /** The audit's highest number then. */
  readonly seq: number;
  readonly count: number;
  /** Of the last of them, linked behind the chain's last act. */
  readonly hash: string;
  /** Numbers that were gone or changed, then or before, and should not have been. The first 64. */
  readonly lost?: readonly number[];
}

export function signCheckpoint(
  key: AuditKey,
  checkpoint: Omit<Checkpoint, "key" | "signature">,
): Checkpoint {
  const unsigned = { ...checkpoint, key: key.publicKey };
  return { ...unsigned, signature: key.sign(canonical(unsigned)) };
}

/** Whether somebody with one of these public keys signed it, for this session. */
export function isGenuine(
  checkpoint: Checkpoint,
  session: string,
  keys: readonly string[],
): boolean {
  const { signature, ...unsigned } = checkpoint;
  if (checkpoint.session !== session || !keys.includes(checkpoint.key)) return false;
  return isSigned(canonical(unsigned), String(signature), checkpoint.key);
}
