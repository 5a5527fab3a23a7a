import {
  appendDelta,
  fromRows,
  parseOffset,
  producerKey,
  type Call,
  type Entry,
  type Item,
  type MessageNode,
  type Offset,
  type Producer,
  type Run,
  type SessionRow,
  type SessionState,
  type TouchedRow,
} from "@holdfast/protocol";
import { StorageError, type Row, type RowChange, type Storage } from "../storage/storage.ts";
import { Deliveries, type Delivery } from "./deliveries.ts";
import { Receipts, type Receipt } from "./receipts.ts";

/** A session as storage has it. */
export interface LoadedSession {
  readonly state: SessionState;
  readonly receipts: Receipts;
  readonly deliveries: Deliveries;
  readonly epoch: string;
  /** The sequence of `state.head`. */
  readonly seq: number;
}

/** Reads a session from its rows, or undefined for an unknown one. Costs the state, not the log. */
export async function loadSession(
  storage: Storage,
  session: string,
): Promise<LoadedSession | undefined> {
  const stored = await storage.rows(session);
  if (!stored) return undefined;
  const { head } = stored;
  const at = parseOffset(head);
  const { row, receipts, deliveries, producers, ...rows } = sortRows(stored.rows);
  if (!at || !row) {
    throw new StorageError("damaged", `Session ${session} has no readable head or session row.`);
  }
  const state = fromRows(head, { session: row, ...rows });
  for (const producer of producers) state.producers.set(producerKey(producer), producer);
  await replayDeltas(storage, session, state);
  return {
    state,
    receipts: new Receipts(receipts),
    deliveries: new Deliveries(deliveries),
    ...at,
  };
}

/** The stored form of what a batch touched. A row that the state no longer has is removed. */
export function rowChanges(state: SessionState, touched: readonly TouchedRow[]): RowChange[] {
  return touched.map(({ kind, id }) => {
    const row = rowOf(state, kind, id);
    return { kind, id, value: row === undefined ? null : JSON.stringify(row) };
  });
}

function rowOf(state: SessionState, kind: TouchedRow["kind"], id: string): object | undefined {
  switch (kind) {
    case "session":
      return state.session;
    case "message":
      return state.messages.get(id);
    case "run":
      return state.runs.get(id);
    case "item":
      return state.items.get(id);
    case "call":
      return state.calls.get(id);
    case "producer":
      return state.producers.get(id);
  }
}

/** How much of the log one read brings in while open rows are brought up to date, in bytes of JSON. */
const REPLAY_BYTES = 1 << 20;

/**
 * The row of an open item or streaming call was last written when it opened or at a checkpoint: folds in the deltas
 * since. Nothing else in the log since then is missing from the rows.
 */
async function replayDeltas(storage: Storage, session: string, state: SessionState): Promise<void> {
  const open = new Map<string, Offset>();
  for (const item of state.items.values()) {
    if ((item.kind === "text" || item.kind === "reasoning") && item.status === "open") {
      open.set(`item ${item.id}`, item.upTo);
    }
  }
  for (const call of state.calls.values()) {
    if (call.status === "streaming") open.set(`call ${call.id}`, call.upTo);
  }
  if (open.size === 0) return;
  let cursor = [...open.values()].reduce((a, b) => (a < b ? a : b));
  while (cursor < state.head) {
    const batches = await storage.entries(session, cursor, REPLAY_BYTES);
    const last = batches.at(-1);
    if (!last) break;
    for (const batch of batches) {
      for (const entry of JSON.parse(batch.json) as Entry[]) {
        if (entry.offset > state.head) return;
        const id = targetOf(entry);
        const upTo = id === undefined ? undefined : open.get(id);
        if (upTo !== undefined && entry.offset > upTo) appendDelta(state, entry);
      }
    }
    cursor = last.last;
  }
}

function targetOf({ event }: Entry): string | undefined {
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return `item ${event.messageId}`;
    case "TOOL_CALL_ARGS":
      return `call ${event.toolCallId}`;
    default:
      return undefined;
  }
}

interface Sorted {
  row: SessionRow | undefined;
  readonly messages: MessageNode[];
  readonly runs: Run[];
  readonly items: Item[];
  readonly calls: Call[];
  readonly producers: Producer[];
  readonly receipts: [string, Receipt][];
  readonly deliveries: Delivery[];
}

/** Parses stored rows by kind; what this server wrote, it trusts. */
function sortRows(rows: readonly Row[]): Sorted {
  const sorted: Sorted = {
    row: undefined,
    messages: [],
    runs: [],
    items: [],
    calls: [],
    producers: [],
    receipts: [],
    deliveries: [],
  };
  for (const { kind, id, value } of rows) {
    const row: unknown = JSON.parse(value);
    switch (kind) {
      case "session":
        sorted.row = row as SessionRow;
        break;
      case "message":
        sorted.messages.push(row as MessageNode);
        break;
      case "run":
        sorted.runs.push(row as Run);
        break;
      case "item":
        sorted.items.push(row as Item);
        break;
      case "call":
        sorted.calls.push(row as Call);
        break;
      case "producer":
        sorted.producers.push(row as Producer);
        break;
      case "receipt":
        sorted.receipts.push([id, row as Receipt]);
        break;
      case "delivery":
        sorted.deliveries.push(row as Delivery);
        break;
      default:
        throw new StorageError("damaged", `Row ${kind} ${id} is of no kind this version knows.`);
    }
  }
  return sorted;
}
