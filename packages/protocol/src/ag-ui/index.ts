// @holdfast/protocol/ag-ui: the AG-UI protocol's rules, and how its threads and runs are told of sessions.
export { AG_UI, INTERRUPT_TOOL } from "./interrupt.ts";
