// @holdfast/protocol/ag-ui: the AG-UI protocol's rules, and how its threads and runs are told of sessions.
export { isSameHistory } from "./begin.ts";
export type { ProjectionOptions, Shown } from "./face.ts";
export type { AgUiEvent, AgUiMessage, Peer } from "./face-event.ts";
export { AG_UI, INTERRUPT_TOOL, interruptOf, interruptsOf } from "./interrupt.ts";
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
