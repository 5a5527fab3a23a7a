import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";
import { redactCall } from "./redact-call.ts";
import { redactContent } from "./redact-content.ts";
import { redactEvent } from "./redact-event.ts";
import type { Sees, ToolOf } from "./sight.ts";
import type { Run } from "./run.ts";
import type { StateRows } from "./state.ts";

/**
 * An entry as a reader gets it who does not see the data of every tool (SPEC 7.5): at the same offset and of the same
 * type, with fixed values in place of what it may not see. The entry itself where there is nothing to hide.
 *
 * For readers who see everything this is not to be called: it takes away what can be told apart by no tool.
 */
export function redactEntry(entry: Entry, sees: Sees, toolOf: ToolOf): Entry {
  const event = redactEvent(entry.event, sees, toolOf);
  if (event === entry.event) return entry;
  // With the salt, a digest would tell whether a guess is right.
  const { salt: _, ...rest } = entry;
  return { ...rest, event };
}

/**
 * The rows that such a reader gets: those that its entries reduce to (SPEC 7.5).
 *
 * @param shown calls whose arguments are shown all the same, since the reader holds them
 */
export function redactRows(
  rows: StateRows,
  sees: Sees,
  shown: (call: Call) => boolean = () => false,
): StateRows {
  const tools = new Map(rows.calls.map(({ id, name }) => [id, name]));
  const toolOf: ToolOf = (callId) => tools.get(callId);
  return {
    ...rows,
    runs: rows.runs.map(redactRun),
    items: rows.items.map((item) =>
      item.kind === "event" ? { ...item, event: redactContent(item.event, sees, toolOf) } : item,
    ),
    calls: rows.calls.map((call) => {
      if (sees(call.name)) return call;
      const redacted = redactCall(call);
      return shown(call) ? { ...redacted, arguments: call.arguments } : redacted;
    }),
  };
}

function redactRun(run: Run): Run {
  const { requests } = run;
  return requests ? { ...run, requests: requests.map((it) => ({ ...it, digest: "" })) } : run;
}
