import type * as agui from "@ag-ui/core";
import type { ContentEvent, Plain } from "../events.ts";

/** Which protocol a reader speaks: 1.0, or what came before it and named no version. */
export type Peer = "1.0" | "0";

/** An event as the AG-UI face sends it (SPEC 12.3). */
export type AgUiEvent =
  | ContentEvent
  | Plain<
      | agui.RunStartedEvent
      | agui.RunFinishedEvent
      | agui.RunErrorEvent
      | agui.MessagesSnapshotEvent
      | agui.ToolCallResultEvent
    >;

/** A message as it is in a thread's list. */
export type AgUiMessage = agui.Message;
