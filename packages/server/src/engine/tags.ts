import {
  waitingOf,
  type Call,
  type SessionRow,
  type SessionState,
  type TouchedRow,
} from "@holdfast/protocol";
import type { TagChange } from "../storage/storage.ts";

/** Longer ones are not searched by. In characters. */
const LONGEST_VALUE = 256;
/** So many of a session's metadata are searched by. */
const MOST_FIELDS = 32;

/**
 * What one session's rows can be found by across sessions: the session itself by agent, owner, metadata and its being closed, and each
 * call that waits for somebody by tool, status, whom it waits for, escalation, and its session's agent and owner. A change is
 * written when a tag or a time is another one, so never while a call streams.
 */
export class TagIndex {
  readonly #known = new Map<string, string>();

  /** @param state as stored: its tags are there already */
  constructor(state: SessionState) {
    for (const call of state.calls.values()) {
      const change = tagsOfCall(state.session, call);
      if (change) this.#known.set(keyOf(change), JSON.stringify(change));
    }
    const session = tagsOfSession(state.session);
    if (state.session.agent !== "") this.#known.set(keyOf(session), JSON.stringify(session));
  }

  /** The changes that a batch's touched rows ask for; they belong in its commit. */
  note(state: SessionState, touched: readonly TouchedRow[]): TagChange[] {
    return touched.flatMap(({ kind, id }) => {
      if (kind === "session") return this.#compare({ kind, id }, tagsOfSession(state.session));
      if (kind !== "call") return [];
      const call = state.calls.get(id);
      return this.#compare({ kind, id }, call && tagsOfCall(state.session, call));
    });
  }

  #compare(row: Pick<TagChange, "kind" | "id">, wanted: TagChange | undefined): TagChange[] {
    const key = keyOf(row);
    const text = wanted && JSON.stringify(wanted);
    if (this.#known.get(key) === text) return [];
    if (text !== undefined) this.#known.set(key, text);
    else this.#known.delete(key);
    return [wanted ?? { ...row, at: 0, tags: null }];
  }
}

/** The tag that a value of a field gives. Fields are few and fixed; for those of metadata see {@link tagOfMetadata}. */
export function tagOf(field: string, value: string | number | boolean): string {
  return `${field}=${value}`;
}

/** The tag that a value of metadata gives. Its name is anybody's, and ends at the first `=` all the same. */
export function tagOfMetadata(name: string, value: string | number | boolean): string {
  return tagOf(`meta.${name.replaceAll("%", "%25").replaceAll("=", "%3D")}`, value);
}

function tagsOfSession(session: SessionRow): TagChange {
  const { id, agent, owner, createdAt, metadata, closed } = session;
  const fields = Object.entries(metadata ?? {})
    .filter((field): field is [string, string | number | boolean] => field.every(isSearchable))
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => tagOfMetadata(name, value));
  const tags = [...tagsOfAll(agent, owner), ...(closed ? [tagOf("closed", true)] : []), ...fields];
  return { kind: "session", id, at: createdAt, tags };
}

function tagsOfCall({ agent, owner }: SessionRow, call: Call): TagChange | undefined {
  if (call.status !== "gated" && call.status !== "open" && call.status !== "claimed")
    return undefined;
  const { kind: waitsFor, since } = waitingOf(call);
  const tags = [
    tagOf("tool", call.name),
    tagOf("status", call.status),
    tagOf("waitsFor", waitsFor),
    ...(call.escalatedAt === undefined ? [] : [tagOf("escalated", true)]),
    ...tagsOfAll(agent, owner),
  ];
  return { kind: "call", id: call.id, at: since, tags };
}

function tagsOfAll(agent: string, owner: string | undefined): string[] {
  return [tagOf("agent", agent), ...(owner === undefined ? [] : [tagOf("owner", owner)])];
}

function isSearchable(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_VALUE && value.isWellFormed();
  return typeof value === "number" || typeof value === "boolean";
}

function keyOf({ kind, id }: Pick<TagChange, "kind" | "id">): string {
  return `${kind}/${id}`;
}
