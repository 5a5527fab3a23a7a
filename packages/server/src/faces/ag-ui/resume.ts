import {
  parseOffset,
  toOffset,
  type Entry,
  type Offset,
  type SessionState,
} from "@holdfast/protocol";
import {
  resumesFrom,
  resumeThread,
  type ProjectionOptions,
  type Resumed,
} from "@holdfast/protocol/ag-ui";
import { cursorOf, type Engine, type Visibility } from "../../engine/index.ts";
import { joinAnew, readCursor } from "./cursor.ts";

export interface Resuming {
  readonly engine: Engine;
  readonly session: string;
  readonly visibility: Visibility;
  readonly options: ProjectionOptions;
  /** The id of the last event that came. */
  readonly lastEventId: string;
}

/**
 * What came behind the event that a reader had last. Reads the activation under way from the log, and no more.
 *
 * @throws HoldfastError `invalid_offset`, or `reset` where it is not certain to be what would have been sent
 */
export async function resumeBehind(state: SessionState, resuming: Resuming): Promise<Resumed> {
  const { visibility, options, lastEventId } = resuming;
  const cursor = readCursor(lastEventId, state.head, visibility);
  const from = resumesFrom(state, options);
  if (from === undefined) throw joinAnew(lastEventId);
  const entries = await entriesBetween(from, state.head, resuming);
  const resumed = resumeThread(state, entries, cursor, options);
  if (resumed === "reset") throw joinAnew(lastEventId);
  return resumed;
}

async function entriesBetween(
  from: Offset,
  to: Offset,
  { engine, session, visibility }: Resuming,
): Promise<Entry[]> {
  const { epoch = "", seq = 1 } = parseOffset(from) ?? {};
  const entries: Entry[] = [];
  let after = toOffset(epoch, seq - 1);
  while (after < to) {
    const page = await engine.page(session, cursorOf(after, visibility), PAGE, visibility);
    for (const entry of JSON.parse(page.entries) as Entry[]) {
      if (entry.offset <= to) entries.push(entry);
    }
    if (page.offset === after) break;
    after = page.offset;
  }
  return entries;
}

/** How many entries are read at once. */
const PAGE = 10_000;
