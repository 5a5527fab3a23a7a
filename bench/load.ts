import { Connection } from "./connection.ts";

/** One request of a load: made when its turn comes, by the worker that sends it. */
export interface Shot {
  /** Everything up to the blank line but `Content-Length`, from {@link headOf}. */
  readonly head: string;
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
 * POSTs from `inFlight` connections, each waiting for its answer before it sends its next, for `seconds` after a warm-up
 * of a quarter of that. Every answer is read whole and must be accepted by `check`; one that is not ends the run.
 */
export async function load(options: {
  readonly url: string;
  readonly inFlight: number;
  readonly seconds: number;
  readonly next: (worker: number) => Shot;
  readonly check: (status: number, body: string) => boolean;
}): Promise<LoadResult> {
  const { url, inFlight, seconds, next, check } = options;
  const connections = await Promise.all(
    Array.from({ length: inFlight }, () => Connection.open(url)),
  );
  const warm = performance.now() + seconds * 250;
  const end = warm + seconds * 1000;
  const latencies: number[] = [];
  const work = async (connection: Connection, worker: number) => {
    for (let begun = performance.now(); begun < end; begun = performance.now()) {
      const { head, body } = next(worker);
      const { status, body: answer } = await connection.send(head, body);
      if (!check(status, answer))
        throw new Error(`Refused with ${status}: ${answer.slice(0, 300)}`);
      const now = performance.now();
      if (begun >= warm && now <= end) latencies.push(now - begun);
    }
  };
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
  return resultOf(latencies, seconds);
}

/** What a load came to, from how long each of its requests took. */
export function resultOf(latencies: number[], seconds: number): LoadResult {
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

/** A request's head, made once for all that are alike: to make it costs as much as to send it. */
export function headOf(host: string, path: string, headers: Record<string, string>): string {
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return head;
}
