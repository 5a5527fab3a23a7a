import {
  HoldfastError,
  reject,
  type Offset,
  type SocketAppend,
  type SocketAttempt,
  type Verdict,
} from "@holdfast/protocol";
import { isObject } from "@holdfast/protocol/schemas";
import { actorOf } from "../auth/index.ts";
import { admit, rejectionOf } from "../http/index.ts";
import type { SocketOptions } from "./context.ts";
import type { Credentials, Held } from "./credentials.ts";
import type { Outgoing } from "./outgoing.ts";

/**
 * Takes appends of one socket. What is durable is acknowledged up to the last of each producer, once for all that
 * became so together; what was refused is told one by one, before anything after it.
 */
export function createAppends(
  options: SocketOptions,
  credentials: Credentials,
  outgoing: Outgoing,
): (frame: SocketAppend) => Promise<void> {
  const { engine, log } = options;
  /** By the token they came under, which is one attempt's, and by producer. */
  let acks = new Map<Held, Map<string, Ack>>();

  function flush(): void {
    const flushed = acks;
    acks = new Map();
    for (const byProducer of flushed.values()) {
      for (const ack of byProducer.values()) outgoing.write(textOf(ack));
    }
  }

  function acknowledge(held: Held, batch: Batch, offset: Offset): void {
    // After everything that the same commit settles.
    if (acks.size === 0) process.nextTick(flush);
    let byProducer = acks.get(held);
    if (!byProducer) acks.set(held, (byProducer = new Map()));
    const before = byProducer.get(batch.producer);
    if (before && before.batch.seq >= batch.seq) return;
    byProducer.set(batch.producer, { batch, offset });
  }

  function refuse(batch: Batch | undefined, cause: unknown): void {
    const error = rejectionOf(cause, log);
    if (batch) outgoing.send({ type: "refused", ...batch, error });
    else outgoing.send({ type: "error", error });
  }

  async function answer(
    held: Held,
    batch: Batch,
    decided: Promise<readonly Verdict[]>,
  ): Promise<void> {
    try {
      const [verdict] = await decided;
      if (!verdict) return;
      const { error, skipped, offset } = verdict;
      if (error) outgoing.send({ type: "refused", ...batch, offset, error });
      else if (skipped) outgoing.send({ type: "refused", ...batch, offset, skipped });
      if (!error) acknowledge(held, batch, offset);
    } catch (cause) {
      refuse(batch, cause);
    }
  }

  // Not async: what was parsed may go before its answer comes.
  return ({ session, command: body }) => {
    const batch = batchOf(session, body);
    try {
      const held = credentials.of(batch ?? { session });
      const { identity } = held;
      const command = admit(options, session, identity, body);
      if (!batch || command.type !== "run.append") throw notAppend(command.type);
      return answer(held, batch, engine.submit(session, [command], actorOf(identity, session)));
    } catch (cause) {
      refuse(batch, cause);
      return Promise.resolve();
    }
  };
}

/** What names an append. */
interface Batch extends SocketAttempt {
  readonly producer: string;
  readonly seq: number;
}

interface Ack {
  readonly batch: Batch;
  readonly offset: Offset;
}

/** As far as it can be read. */
function batchOf(session: string, command: unknown): Batch | undefined {
  if (!isObject(command)) return undefined;
  const { runId, attempt, producer, seq } = command;
  const named =
    typeof runId === "string" &&
    typeof attempt === "number" &&
    typeof producer === "string" &&
    typeof seq === "number";
  return named ? { session, runId, attempt, producer, seq } : undefined;
}

function textOf({ batch, offset }: Ack): string {
  const { session, runId, attempt, producer, seq } = batch;
  return JSON.stringify({ type: "ack", session, runId, attempt, producer, seq, offset });
}

function notAppend(type: string): HoldfastError {
  const message = `An append carries a run.append, not ${type}: send that with \`commands\`.`;
  return new HoldfastError(reject("invalid_request", message));
}
