import { disagrees, own } from "./ownership.ts";
import { remember, reused } from "./reuse.ts";
import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import type { AgUiEventOf } from "./vocabulary.ts";

type Started = AgUiEventOf<"TEXT_MESSAGE_START" | "REASONING_MESSAGE_START" | "REASONING_START">;
type Content = AgUiEventOf<"TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT">;
type Ended = AgUiEventOf<"TEXT_MESSAGE_END" | "REASONING_MESSAGE_END" | "REASONING_END">;

/** What is opened and closed: a span and the messages in it may have one id, and then one owner. */
const TEXT = {
  what: "text message",
  kind: "message",
  start: "TEXT_MESSAGE_START",
  end: "TEXT_MESSAGE_END",
  open: "texts",
  owners: "message",
} as const;
const REASONING = {
  what: "reasoning message",
  kind: "reasoning message",
  start: "REASONING_MESSAGE_START",
  end: "REASONING_MESSAGE_END",
  open: "reasonings",
  owners: "reasoning",
} as const;
const SPAN = {
  ...REASONING,
  what: "reasoning span",
  start: "REASONING_START",
  end: "REASONING_END",
  open: "spans",
} as const;
const ITEMS = {
  TEXT_MESSAGE_START: TEXT,
  TEXT_MESSAGE_CONTENT: TEXT,
  TEXT_MESSAGE_END: TEXT,
  REASONING_MESSAGE_START: REASONING,
  REASONING_MESSAGE_CONTENT: REASONING,
  REASONING_MESSAGE_END: REASONING,
  REASONING_START: SPAN,
  REASONING_END: SPAN,
};

export function messageStarted(
  state: VerifyState,
  event: Started,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { type, messageId: id } = event;
  const item = ITEMS[type];
  const [open, owners] = [state.open[item.open], state.owners[item.owners]];
  if (open.has(id)) return violates("V7", TEXTS.alreadyOpen(type, item.what, id, item.end));
  const violation = disagrees(owners, event, item.kind, id);
  if (violation) return violation;
  open.add(id);
  own(owners, id, event.subagentRunId);
  if (item === SPAN) return undefined;
  const again = reused(state, id, kindOf(event), warnings);
  remember(state, id, kindOf(event));
  return again;
}

export function messageContent(state: VerifyState, event: Content): AgUiViolation | undefined {
  const { type, messageId: id } = event;
  const item = ITEMS[type];
  if (!state.open[item.open].has(id)) {
    return violates("V8", TEXTS.notOpen(type, item.what, id, item.start));
  }
  return event.subagentRunId === undefined
    ? undefined
    : disagrees(state.owners[item.owners], event, item.kind, id);
}

export function messageEnded(state: VerifyState, event: Ended): AgUiViolation | undefined {
  const { type, messageId: id } = event;
  const item = ITEMS[type];
  const open = state.open[item.open];
  if (!open.has(id)) {
    const text = item === REASONING ? TEXTS.notOpen : TEXTS.nothingToEnd;
    return violates("V8", text(type, item.what, id, item.start));
  }
  const violation = disagrees(state.owners[item.owners], event, item.kind, id);
  if (!violation) open.delete(id);
  return violation;
}

function kindOf({ type }: Started): "text" | "reasoning" {
  return type === "TEXT_MESSAGE_START" ? "text" : "reasoning";
}
