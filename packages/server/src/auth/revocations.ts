import { toOffset, type Offset } from "@holdfast/protocol";
import {
  SERVER_ROWS,
  StorageConflict,
  type Row,
  type RowChange,
  type Storage,
} from "../storage/storage.ts";
import type { Identity } from "./identity.ts";
import { MAX_LIFETIME, TOLERANCE } from "./limits.ts";

/** What holds no longer: one token, or all of a principal's that were issued before a time. */
export type Revocation =
  | { readonly token: string }
  /** Unix milliseconds; default, and at most, now. Tokens say when they were issued to the second, and that whole second counts. */
  | { readonly principal: string; readonly before?: number };

/** A revocation that stands. It is forgotten at `until`, when every token it concerns has ended by itself. */
export type Revoked =
  | { readonly token: string; readonly until: number }
  | { readonly principal: string; readonly before: number; readonly until: number };

/**
 * What was revoked, kept in the server's storage. In effect and durable once `add` resolves; who watches hears of it
 * then.
 */
export class Revocations {
  readonly #storage: Storage;
  readonly #tokens = new Map<string, { readonly until: number }>();
  readonly #principals = new Map<string, { readonly before: number; readonly until: number }>();
  readonly #watchers = new Set<() => void>();
  #loading: Promise<Offset | null> | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Reads what is stored, once. Before it resolves, {@link has} knows nothing. */
  async load(): Promise<void> {
    await this.#load();
  }

  has({ principal, tokenIds, issuedAt }: Identity): boolean {
    const revoked = this.#principals.get(principal);
    return (revoked && issuedAt <= revoked.before) || tokenIds.some((id) => this.#tokens.has(id));
  }

  async add(revocation: Revocation): Promise<Revoked> {
    for (let tries = 1; ; tries += 1) {
      const expect = await this.#load();
      const revoked = this.#dated(revocation);
      try {
        await this.#append(expect, [rowOf(revoked), ...this.#expired()]);
      } catch (error) {
        // Another server, or another call, wrote the first one.
        if (!(error instanceof StorageConflict) || tries > 3) throw error;
        this.#loading = undefined;
        continue;
      }
      this.#keep(revoked);
      for (const hear of this.#watchers) hear();
      return revoked;
    }
  }

  async list(): Promise<Revoked[]> {
    await this.#load();
    const now = this.#storage.now();
    return [
      ...[...this.#tokens].map(([token, rest]) => ({ token, ...rest })),
      ...[...this.#principals].map(([principal, rest]) => ({ principal, ...rest })),
    ].filter(({ until }) => until > now);
  }

  /** Calls `hear` after each that is added; the result takes it back. */
  watch(hear: () => void): () => void {
    this.#watchers.add(hear);
    return () => void this.#watchers.delete(hear);
  }

  /** @returns the head under which rows are stored, or null where there are none yet */
  #load(): Promise<Offset | null> {
    const loading = (this.#loading ??= this.#read());
    loading.catch(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    return loading;
  }

  async #read(): Promise<Offset | null> {
    const stored = await this.#storage.rows(SERVER_ROWS);
    for (const row of stored?.rows ?? []) {
      const revoked = revokedIn(row);
      if (revoked) this.#keep(revoked);
    }
    return stored?.head ?? null;
  }

  async #append(expect: Offset | null, rows: readonly RowChange[]): Promise<void> {
    const head = expect ?? toOffset("server", 0);
    await this.#storage.append({ session: SERVER_ROWS, expect, head, rows, due: [] });
    if (expect === null) this.#loading = Promise.resolve(head);
  }

  #dated(revocation: Revocation): Revoked {
    const now = this.#storage.now();
    if ("token" in revocation) {
      return { token: revocation.token, until: now + MAX_LIFETIME + TOLERANCE };
    }
    const { principal } = revocation;
    const known = this.#principals.get(principal)?.before ?? 0;
    const before = Math.max(Math.min(revocation.before ?? now, now), known);
    return { principal, before, until: before + MAX_LIFETIME + TOLERANCE };
  }

  #keep(revoked: Revoked): void {
    if ("token" in revoked) this.#tokens.set(revoked.token, { until: revoked.until });
    else {
      const { principal, before, until } = revoked;
      const known = this.#principals.get(principal);
      if (!known || known.before < before) this.#principals.set(principal, { before, until });
    }
  }

  /** Forgets those that have nothing left to revoke, and says how to remove them. */
  #expired(): RowChange[] {
    const now = this.#storage.now();
    const gone: RowChange[] = [];
    for (const [id, { until }] of this.#tokens) {
      if (until <= now && this.#tokens.delete(id)) gone.push({ kind: TOKEN, id, value: null });
    }
    for (const [id, { until }] of this.#principals) {
      if (until <= now && this.#principals.delete(id))
        gone.push({ kind: PRINCIPAL, id, value: null });
    }
    return gone;
  }
}

const TOKEN = "revoked-token";
const PRINCIPAL = "revoked-principal";

function rowOf(revoked: Revoked): Row {
  return "token" in revoked
    ? { kind: TOKEN, id: revoked.token, value: JSON.stringify(revoked) }
    : { kind: PRINCIPAL, id: revoked.principal, value: JSON.stringify(revoked) };
}

/** What this file wrote. */
function revokedIn({ kind, value }: Row): Revoked | undefined {
  return kind === TOKEN || kind === PRINCIPAL ? (JSON.parse(value) as Revoked) : undefined;
}
