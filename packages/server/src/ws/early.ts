import type { Duplex } from "node:stream";

/**
 * Counts what comes before anybody has said who they are, whole frames or not: `ws` would gather a frame of any size
 * that a client who is known may send.
 *
 * @param isKnown whether what came is somebody's, or is being found out; asked once `ws` has read it
 * @param beyond called, once, with how much came, when that is more than `limit` bytes
 */
export function countEarly(
  raw: Duplex,
  limit: number,
  {
    isKnown,
    beyond,
  }: { readonly isKnown: () => boolean; readonly beyond: (bytes: number) => void },
): void {
  let bytes = 0;
  const count = (chunk: Buffer) => {
    if (isKnown()) return;
    bytes += chunk.byteLength;
    if (bytes <= limit) return;
    raw.off("data", count);
    beyond(bytes);
  };
  raw.on("data", count);
}
