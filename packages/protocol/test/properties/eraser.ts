import type { ErasedMark, ErasedTarget } from "@holdfast/protocol";
import type { Desk } from "../support/desk.ts";

interface Erased {
  readonly target: ErasedTarget;
  readonly mark: ErasedMark;
}

/** Erases something that can be, now and then; whatever cannot be is refused. */
export function eraser() {
  const done: Erased[] = [];
  let steps = 0;
  return {
    done,
    onStep: (desk: Desk) => {
      steps += 1;
      if (steps % 7 !== 0) return;
      const targets: ErasedTarget[] = [
        ...[...desk.state.calls.keys()].map((callId) => ({ callId })),
        ...[...desk.state.runs.keys()].map((runId) => ({ runId })),
        ...[...desk.state.messages.keys()].map((messageId) => ({ messageId })),
        ...[...desk.state.items.values()].flatMap(({ kind, id }) =>
          kind === "text" || kind === "reasoning" ? [{ messageId: id }] : [],
        ),
      ];
      const target = targets[(steps * 31) % (targets.length || 1)];
      if (!target) return;
      const by = "user:dpo";
      const verdict = desk.decide(
        { id: `e${steps}`, type: "content.erase", ...target },
        desk.env(by),
      );
      if (!verdict.error && !verdict.repeated) done.push({ target, mark: { by, at: desk.now() } });
    },
  };
}
