/** What a session does when a message meets an un-ended run, and with arguments that do not validate (SPEC 5.6). */
export interface Policy {
  /** The message's path has a queued or active run. */
  readonly whileActive: "queue" | "concurrent" | "refuse" | "replace";
  /** The message's path has a suspended run. */
  readonly whilePending: "abandon" | "queue" | "refuse";
  /** `answer`: the model gets a structured error and no handler runs. `offer`: the executor gets them as they are. */
  readonly invalidArguments: "answer" | "offer";
}

export const DEFAULT_POLICY: Policy = {
  whileActive: "queue",
  whilePending: "abandon",
  invalidArguments: "answer",
};
