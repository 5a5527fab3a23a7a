import type { AgUiWarning } from "./rules.ts";
import type { KnownCall, VerifyState } from "./state.ts";
import { isFrontend } from "./verify-call.ts";
import type { AgUiInput } from "./vocabulary.ts";

/** What whoever asks for the next run of a thread has to bring. */
export interface Owed {
  /** Undefined: nothing is known of them. */
  readonly interrupts: ReadonlySet<string> | undefined;
  /** Complete calls of frontend tools that nobody answered, by id. */
  readonly calls: readonly (readonly [string, KnownCall])[];
}

/** What the runs of a stream have left for the next one's input. */
export function owedTo(state: VerifyState): Owed {
  const calls = [...state.calls].filter(([id, call]) => {
    const isLeft = call.answered === "no" && !state.open.calls.has(id);
    return isLeft && isFrontend(state, call.name);
  });
  return { interrupts: state.interrupts, calls };
}

/**
 * D6 and D7: what an input that RUN_STARTED echoes says amiss of the runs before it. Warnings, since it is not the
 * producer's fault. Its messages have been read: they may have answered what was owed. Adds to `warnings`.
 */
export function neglected(
  { resume = [] }: Pick<AgUiInput, "resume">,
  owed: Owed | undefined,
  warnings: AgUiWarning[],
): void {
  const warn = (rule: "D6" | "D7", id: string, words: string) => {
    warnings.push({ rule, id, message: `The input ${words}` });
  };
  const told = new Set<string>();
  for (const { interruptId: id } of resume) {
    if (told.has(id)) warn("D6", id, `has two resume entries for the interrupt '${id}'.`);
    else if (owed?.interrupts?.has(id) === false) {
      warn("D6", id, `has a resume entry for '${id}', which is no interrupt of the run before.`);
    }
    told.add(id);
  }
  for (const id of owed?.interrupts ?? []) {
    if (!told.has(id)) warn("D6", id, `has no resume entry for the interrupt '${id}'.`);
  }
  for (const [id, call] of owed?.calls ?? []) {
    if (call.answered === "no") {
      warn("D7", id, `has no tool message for the frontend tool call '${id}'.`);
    }
  }
}
