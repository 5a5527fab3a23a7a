// @holdfast/protocol/ag-ui: the AG-UI protocol's rules, and how its threads and runs are told of sessions.
export { createAgUiEncoder } from "./ingest/encoder.ts";
export type { AgUiEncoder, AgUiOutcome } from "./ingest/encoder.ts";
export type { AgUiDiagnostic } from "./ingest/diagnostics.ts";
export type { AgUiScope } from "./ingest/scope.ts";
export { agUiAfterCut } from "./after-cut.ts";
export type { AgUiAfterCut } from "./after-cut.ts";
export { agUiInput } from "./input.ts";
export type { AgUiRunInput } from "./input.ts";
export type { CompatState } from "./compat.ts";
export { CAPABILITIES as AG_UI_CAPABILITIES } from "./capabilities.ts";
export { enforceAgUiEvent, enforceAgUiInput } from "./enforce.ts";
export type { Enforced } from "./enforce.ts";
export { createExpandState, expandAgUi } from "./expand.ts";
export type { ExpandState } from "./expand.ts";
export { createAgUiReader, endAgUi, readAgUi } from "./reader.ts";
export type { AgUiReader, AgUiReading } from "./reader.ts";
export { AG_UI_RULES } from "./rules.ts";
export type { AgUiRule, AgUiViolation, AgUiWarning } from "./rules.ts";
export { restoreAgUi, saveAgUi } from "./save.ts";
export type { SavedAgUiReader } from "./save.ts";
export { createVerifyState } from "./state.ts";
export type { VerifyOptions, VerifyState } from "./state.ts";
export { verifyAgUi, verifyAgUiEnd } from "./verify.ts";
export { AG_UI_EVENTS, isAgUiType } from "./vocabulary.ts";
export type {
  AgUiCapabilities,
  AgUiEvent,
  AgUiEventOf,
  AgUiEventType,
  AgUiInput,
  AgUiMessage,
} from "./vocabulary.ts";
export { isSameHistory } from "./begin.ts";
export type { ProjectionOptions, Shown } from "./face.ts";
export type { AgUiEvent as AgUiFaceEvent, Peer } from "./face-event.ts";
export { AG_UI, INTERRUPT_TOOL, interruptOf, interruptsOf } from "./interrupt.ts";
export { unknownFields } from "./known-fields.ts";
export { joinThread } from "./join.ts";
export type { Joined, JoinOptions } from "./join.ts";
export { agUiMessages } from "./messages.ts";
export type { MessagesOptions } from "./messages.ts";
export { outcomeOf, pendingCalls } from "./outcome.ts";
export type { OutcomeOptions } from "./outcome.ts";
export { createProjection } from "./project.ts";
export type { Projection } from "./project.ts";
export { resumesFrom, resumeThread } from "./resume.ts";
export type { Cursor, Resumed, Sent } from "./resume.ts";
export { agUiState } from "./state-value.ts";
