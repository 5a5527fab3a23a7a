import type { Offset, ToolDeclaration } from "@holdfast/protocol";
import { isObject, unreachable, type SessionSocket, type Transport } from "../wire/index.ts";

/** One attempt of a run, granted to this process. */
export interface Work {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly wakeId: string;
  /** The attempt's own: everything the agent says of the run goes under it. */
  readonly token: string;
  /** How long the server hears nothing before it gives the attempt up. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** The session's head when the attempt was durable. */
  readonly offset: Offset;
}

export interface WorkRequest {
  readonly agent: string;
  readonly worker: string;
  /** Names the process under the worker's name: attempts that another process of that name held are taken over. */
  readonly instance: string;
  readonly waitMs: number;
  readonly tools?: readonly ToolDeclaration[];
  readonly complete?: boolean;
  readonly claims?: boolean;
}

/**
 * Waits for work, at most `waitMs`. One try: the caller asks again.
 *
 * @returns undefined when nothing came; over a socket, what was granted though the signal was aborted meanwhile
 * @throws {HoldfastError} `unreachable` and other transient codes; `unauthenticated`, `forbidden`
 */
export async function claimWork(
  transport: Transport,
  request: WorkRequest,
  { signal, socket }: { readonly signal: AbortSignal; readonly socket: SessionSocket | undefined },
): Promise<Work | undefined> {
  const body = JSON.stringify({ claims: true, ...request });
  if (socket) {
    const work = await socket.work(body, request.waitMs, signal);
    return work === undefined ? undefined : parseWork({ work });
  }
  return transport.json("/v1/work/claim", {
    method: "POST",
    body,
    tries: 1,
    timeoutMs: request.waitMs + transport.timeoutMs,
    signal,
    parse: parseWork,
  });
}

/**
 * Claims one run, with the wake id it waits for. Tried again where the network fails: the same worker gets the same
 * attempt.
 *
 * @throws {HoldfastError} `run_held`, `run_ended`, `unknown_run` or `unknown_session` where the run is not to be had any
 * more; `unreachable` and other transient codes; `unauthenticated`, `forbidden`
 */
export async function claimRun(
  transport: Transport,
  request: Omit<WorkRequest, "waitMs"> & Pick<Work, "session" | "runId" | "wakeId">,
): Promise<Work> {
  const work = await transport.json("/v1/work/claim", {
    method: "POST",
    body: JSON.stringify({ claims: true, ...request }),
    parse: parseWork,
  });
  if (!work) throw unreachable("The server sent no work: is it a Holdfast server?");
  return work;
}

function parseWork(value: unknown): Work | undefined {
  if (value === undefined) return undefined;
  const work = isObject(value) ? value["work"] : undefined;
  if (!isWork(work)) throw unreachable("The server sent no work: is it a Holdfast server?");
  return work;
}

function isWork(value: unknown): value is Work {
  return (
    isObject(value) &&
    ["session", "runId", "wakeId", "token", "offset"].every(
      (field) => typeof value[field] === "string",
    ) &&
    ["attempt", "leaseMs", "heartbeatMs"].every((field) => typeof value[field] === "number")
  );
}
