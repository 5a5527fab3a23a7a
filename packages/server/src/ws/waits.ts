import { HoldfastError, reject, type SocketRef } from "@holdfast/protocol";
import { grantWork } from "../http/index.ts";
import type { SocketOptions } from "./context.ts";
import type { Credentials } from "./credentials.ts";
import { tooMany } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";

/** The requests for work of one socket. */
export interface Waits {
  wait(ref: SocketRef, request: unknown): void;
  cancel(ref: SocketRef): void;
  end(): void;
}

/** @param fail says that a request was not carried out */
export function createWaits(
  options: SocketOptions,
  credentials: Credentials,
  {
    outgoing,
    fail,
  }: {
    readonly outgoing: Outgoing;
    readonly fail: (ref: SocketRef, error: unknown) => void;
  },
): Waits {
  const { limits } = options;
  const waiting = new Map<SocketRef, AbortController>();

  async function wait(ref: SocketRef, request: unknown, over: AbortController): Promise<void> {
    try {
      const { identity } = credentials.of();
      const work = await grantWork(options, identity, request, over.signal);
      outgoing.send({ type: "work", ref, ...(work && { work }) });
    } catch (error) {
      fail(ref, error);
    } finally {
      waiting.delete(ref);
    }
  }

  return {
    wait(ref, request) {
      if (waiting.has(ref)) throw inUse(ref);
      if (waiting.size >= limits.waits)
        throw tooMany("requests for work", limits.waits, "wait for one");
      const over = new AbortController();
      waiting.set(ref, over);
      void wait(ref, request, over);
    },
    cancel: (ref) => waiting.get(ref)?.abort(),
    end() {
      for (const over of waiting.values()) over.abort();
    },
  };
}

function inUse(ref: SocketRef): HoldfastError {
  const message = `A request for work waits under ref ${ref}: give this one another.`;
  return new HoldfastError(reject("invalid_request", message));
}
