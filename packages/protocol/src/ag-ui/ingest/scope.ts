import type { EncoderScope } from "../../codec.ts";
import type { AgUiInput } from "../vocabulary.ts";

/** What an encoder of AG-UI events is created with. */
export interface AgUiScope extends EncoderScope {
  /** What the stream answers: its thread, its run, its tools, and the history that it need not tell again. */
  readonly input?: AgUiInput;
  /** The messages that steer the run and are in the input; absent: all that wait. */
  readonly steers?: readonly string[];
  /** Whether an id that was used before is a violation; by default it is changed, with a diagnostic. */
  readonly strict?: boolean;
}

/** Names a stream among those of its run: `2`, `2-1` the second of attempt 2, `2-1~p` of process p, `2~p/step:3`. */
export function streamName({ attempt, stream = 0, process, step }: EncoderScope): string {
  const number = stream === 0 ? `${attempt}` : `${attempt}-${stream}`;
  const from = process === undefined ? number : `${number}~${process}`;
  return step ? `${from}/${step.id}:${step.attempt}` : from;
}
