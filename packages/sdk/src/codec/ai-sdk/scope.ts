import type { EncoderScope } from "@holdfast/protocol";

/** What an encoder is created with. */
export interface AiSdkScope extends EncoderScope {
  /** Gives a provider's call id its id in the session. Default: the same; the server scopes ids that were used before. */
  readonly takeCallId?: (providerCallId: string) => string;
}

/**
 * Ids of one attempt's messages. Providers repeat the ids of their parts, so ours name run, attempt, round and part;
 * the calls of a round hang under one message.
 */
export interface Ids {
  /** The message of the current round. */
  readonly round: () => string;
  readonly nextRound: () => void;
  /** Whether the stream has begun a round. */
  readonly inRounds: () => boolean;
  /** A new part of the current round. */
  readonly part: () => string;
}

export function createIds(scope: AiSdkScope): Ids {
  let round = 0;
  let part = 0;
  const own = `${scope.runId}.${streamKey(scope)}`;
  const prefix = () => `${own}.${round}`;
  return {
    round: prefix,
    nextRound() {
      round += 1;
      part = 0;
    },
    inRounds: () => round > 0,
    part: () => `${prefix()}.${(part += 1)}`,
  };
}

/** Names a stream among those of its run: `2`, `2-1` the second of attempt 2, `2-1~p` of process p, `2~p/step:3`. */
export function streamKey({ attempt, stream = 0, process, step }: AiSdkScope): string {
  const number = stream === 0 ? `${attempt}` : `${attempt}-${stream}`;
  const from = process === undefined ? number : `${number}~${process}`;
  return step ? `${from}/${step.id}:${step.attempt}` : from;
}
