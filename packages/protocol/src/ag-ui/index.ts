// @holdfast/protocol/ag-ui: the AG-UI protocol's rules, and how its threads and runs are told of sessions.
export { createAgUiEncoder } from "./ingest/encoder.ts";
export type { AgUiEncoder, AgUiOutcome } from "./ingest/encoder.ts";
export type { AgUiDiagnostic } from "./ingest/diagnostics.ts";
export type { AgUiScope } from "./ingest/scope.ts";
export { agUiInput } from "./input.ts";
export type { AgUiRunInput } from "./input.ts";
export { AG_UI, INTERRUPT_TOOL } from "./interrupt.ts";
