/**
 * The tool of an AG-UI interrupt that is no approval of a call: clients execute it, its answer is the resume payload. No
 * provider allows a colon in a tool's name, so no agent's own tool is called this.
 */
export const INTERRUPT_TOOL = "ag-ui:interrupt";

/** Under which key of `metadata` AG-UI material rides that the protocol has no word for. */
export const AG_UI = "ag-ui";
