import type { AgentItem, RunAppend } from "../command.ts";
import type { EventOf } from "../events.ts";
import { mostSmall, type ContentLimits } from "./limits.ts";

/** No more than this is joined, in characters. */
const MOST = 4_096;

/**
 * An append with adjacent plain deltas of one message as one: they are decided alike, and would be one entry anyway
 * (SPEC 3.4). {@link RunAppend.joined} then says what each item stands for. Arguments stay apart, since each delta of
 * them may be the one too many; where a text comes to its limit, what was joined is refused together.
 *
 * To be done before a command waits for anything: then what waits is a few items, and not one for each token.
 *
 * @param limits what is joined stays small among events
 */
export function joinDeltas<T extends RunAppend>(
  command: T,
  limits: Pick<ContentLimits, "eventBytes">,
): T {
  const most = Math.min(MOST, mostSmall(limits));
  const items: AgentItem[] = [];
  const joined: number[] = [];
  /** The last of `items`, where more may be added to it, and whether it is ours to change. */
  let open: Text | undefined;
  let isOurs = false;
  for (const item of command.items) {
    const text = isPlainText(item) ? item : undefined;
    if (open && text && continues(open, text, most)) {
      if (!isOurs) items[items.length - 1] = open = { ...open };
      isOurs = true;
      open.delta += text.delta;
      joined[joined.length - 1] = (joined.at(-1) ?? 0) + 1;
    } else {
      open = text;
      isOurs = false;
      items.push(item);
      joined.push(1);
    }
  }
  return items.length === command.items.length ? command : { ...command, items, joined };
}

type Text = EventOf<"TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT">;

function continues(before: Text, { type, messageId, delta }: Text, most: number): boolean {
  return (
    before.type === type &&
    before.messageId === messageId &&
    before.delta.length + delta.length <= most
  );
}

/** Any further field keeps a delta apart. */
function isPlainText(item: AgentItem): item is Text {
  const isText = item.type === "TEXT_MESSAGE_CONTENT" || item.type === "REASONING_MESSAGE_CONTENT";
  return isText && Object.keys(item).length === 3;
}
