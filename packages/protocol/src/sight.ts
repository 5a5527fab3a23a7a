/** Whether a reader sees a tool's arguments and results; undefined: what belongs to no tool that is known. */
export type Sees = (tool: string | undefined) => boolean;

/** The tool of a call; undefined for a call that is not known, whose data nobody sees but who sees all. */
export type ToolOf = (callId: string) => string | undefined;
