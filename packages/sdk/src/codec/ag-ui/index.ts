export type { AgUiEncoder, AgUiInput } from "@holdfast/protocol/ag-ui";
export { agUi } from "./codec.ts";
