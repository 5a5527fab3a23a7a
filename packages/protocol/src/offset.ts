/**
 * A position in one session's log: ordered and opaque to everyone but the server.
 *
 * Compare offsets of one session with `<`, `===`; never parse them. Inside: the session's epoch (minted at
 * creation, changed when a storage is restored) and a fixed-width sequence, so that string order is log order.
 */
export type Offset = string;

const WIDTH = 11;

/** Makes the offset of the `seq`-th entry of an epoch. Sequence 0 is the empty log. */
export function toOffset(epoch: string, seq: number): Offset {
  return `${epoch}.${seq.toString(10).padStart(WIDTH, "0")}`;
}

/**
 * Reads an offset back, server side only.
 *
 * @returns undefined for text that is no offset; the caller answers `invalid_offset`.
 */
export function parseOffset(offset: string): { epoch: string; seq: number } | undefined {
  const match = /^([0-9a-z]{1,32})\.([0-9]{11})$/.exec(offset);
  if (!match?.[1] || !match[2]) return undefined;
  return { epoch: match[1], seq: Number(match[2]) };
}
