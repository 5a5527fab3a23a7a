import { Pool } from "undici";

/** One request of a load: made when its turn comes, by the worker that sends it. */
export interface Shot {
  readonly path: string;
  readonly method: "POST" | "PUT";
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests from `inFlight` workers, each waiting for its answer before it sends its next, for `seconds` after a
 * warm-up of a quarter of that. Every answer is read whole and must be accepted by `check`; one that is not ends the run.
 */
export async function load(options: {
  readonly url: string;
  readonly inFlight: number;
  readonly seconds: number;
  next(worker: number): Shot;
  check(status: number, body: string): boolean;
}): Promise<LoadResult> {
  const { url, inFlight, seconds, next, check } = options;
  const pool = new Pool(url, { connections: inFlight, pipelining: 1 });
  const warm = performance.now() + seconds * 250;
  const end = warm + seconds * 1000;
  const latencies: number[] = [];
  const work = async (worker: number) => {
    for (let begun = performance.now(); begun < end; begun = performance.now()) {
      const answer = await pool.request(next(worker));
      const body = await answer.body.text();
      if (!check(answer.statusCode, body))
        throw new Error(`Refused with ${answer.statusCode}: ${body.slice(0, 300)}`);
      const now = performance.now();
      if (begun >= warm && now <= end) latencies.push(now - begun);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, (_, worker) => work(worker)));
  } finally {
    await pool.destroy();
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
