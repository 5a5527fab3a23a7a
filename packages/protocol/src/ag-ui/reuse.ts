import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import type { MessageKind, VerifyState } from "./state.ts";

/**
 * D12: whether a new message takes an id that another message has. A text or reasoning message may begin again in the
 * run it began in, and an activity may be restated at any time; a tool message is minted once.
 */
export function reused(
  state: VerifyState,
  id: string,
  kind: MessageKind,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const known = state.messages.get(id);
  if (!known) return undefined;
  const again = kind === "activity" || (kind !== "tool" && known.run === state.runs);
  if (known.kind === kind && again) return undefined;
  const where = known.run === state.runs ? "in this run" : "before this run";
  return complain(
    state,
    id,
    `The id '${id}' of this ${kind} message was that of a ${known.kind} message ${where}.`,
    warnings,
  );
}

export function remember(state: VerifyState, id: string, kind: MessageKind): void {
  const known = state.messages.get(id);
  if (known?.kind !== kind || known.run !== state.runs) {
    state.messages.set(id, { kind, run: state.runs });
  }
}

/** D12, of calls: one that an earlier run made is not made again; its arguments would grow. */
export function reusedCall(
  state: VerifyState,
  id: string,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const known = state.calls.get(id);
  if (!known || known.started === state.runs || known.restated === state.runs) return undefined;
  return complain(
    state,
    id,
    `The call '${id}' was made before this run: its arguments would continue those of then.`,
    warnings,
  );
}

function complain(
  { options }: VerifyState,
  id: string,
  message: string,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  if (options.strict === true) return violates("D12", message);
  warnings.push({ rule: "D12", message, id });
  return undefined;
}
