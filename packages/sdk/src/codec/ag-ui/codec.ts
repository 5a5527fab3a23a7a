import type { Codec, EncoderScope, SessionState } from "@holdfast/protocol";
import { AG_UI, agUiInput, createAgUiEncoder, type AgUiInput } from "@holdfast/protocol/ag-ui";

/**
 * The codec of AG-UI: events in, as they come from an agent, and the input of its next run out. Events are held against the
 * protocol, and a stream that breaks it, or ends without its run's end, fails the run (SPEC 12.5).
 */
export const agUi = {
  name: AG_UI,
  encoder: (scope: EncoderScope) => createAgUiEncoder(scope),
  history: async (state: SessionState, { runId }: { readonly runId: string }) =>
    agUiInput(state, { runId }).input,
} as const satisfies Codec<unknown, AgUiInput>;
