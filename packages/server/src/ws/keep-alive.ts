/** How many beats in a row may pass without a sign of life. */
const MISSES = 2;

/** What is asked of a socket, beat by beat. */
export interface Alive {
  /** There was a sign of life since the last beat, or none can be asked for. */
  readonly heard: () => boolean;
  readonly ping: () => void;
  /** It is gone, or never reads. */
  readonly lost: () => void;
}

/** Asks for a sign of life every `ms` until stopped. @returns what stops it */
export function keepAlive(
  schedule: (ms: number, run: () => void) => () => void,
  ms: number,
  { heard, ping, lost }: Alive,
): () => void {
  let misses = 0;
  let stop = schedule(ms, beat);
  function beat(): void {
    misses = heard() ? 0 : misses + 1;
    if (misses > MISSES) return lost();
    ping();
    stop = schedule(ms, beat);
  }
  return () => stop();
}
