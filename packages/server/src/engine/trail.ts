import type { Actor, Command, Rejection } from "@holdfast/protocol";
import type { AuditKey } from "../audit/key.ts";
import { verifyAudit, type AuditFinding } from "../audit/verify.ts";
import type { AuditRow, Storage } from "../storage/storage.ts";
import { Audit } from "./audit.ts";
import { exportLines } from "./audit-export.ts";
import { checkRecord, signChain, type ChainContext, type Signed } from "./chain.ts";
import { Checkpoints } from "./checkpoints.ts";
import { randomSalt } from "./ids.ts";
import type { Sessions } from "./sessions.ts";

export interface TrailOptions {
  readonly storage: Storage;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** What checkpoints are signed with. */
  readonly auditKey: AuditKey;
  /** Public keys that signed them before. */
  readonly formerAuditKeys?: readonly string[];
  /** Whose audits they are; asked for later than this is made. */
  readonly sessions: () => Sessions;
}

interface SignedAndNoted {
  readonly signed: Signed;
  /** Resolves once storage knows that it is signed, or never will from here. */
  readonly noted: Promise<void>;
}

const SERVER: Actor = { principal: "server" };

/** The audits of all sessions: what was refused, and the signed chain of it and of the log's acts. */
export class Trail {
  /** What was refused, on its way to storage. */
  readonly audit: Audit;
  readonly #options: TrailOptions;
  readonly #chain: ChainContext;
  readonly #checkpoints: Checkpoints;
  readonly #signing = new Map<string, Promise<SignedAndNoted>>();

  constructor(options: TrailOptions) {
    const { storage, schedule, log, auditKey: key, formerAuditKeys: formerKeys = [] } = options;
    this.#options = options;
    this.#chain = { storage, key, formerKeys };
    this.#checkpoints = new Checkpoints({
      now: () => storage.now(),
      schedule,
      log,
      sign: async (session) => (await options.sessions().find(session)) && this.#sign(session),
    });
    const written = (session: string, count: number) => this.acted(session, count);
    this.audit = new Audit({ storage, schedule, log, salt: randomSalt, written });
  }

  /** A session's chain has new records. */
  acted(session: string, count: number): void {
    this.#checkpoints.note(session, count);
  }

  /** Takes note of a command that its sender may not give, so that it never came to be decided. */
  noteRefusal(session: string, command: Command, actor: Actor, { code }: Rejection): void {
    const at = this.#options.storage.now();
    this.audit.note(session, [{ at, actor, command, code }]);
  }

  /** What is kept of a session's refusals above the number `after`, oldest first, those just given included. */
  async refusals(
    session: string,
    query: { readonly after: number; readonly limit: number },
  ): Promise<readonly AuditRow[]> {
    await this.#options.sessions().need(session);
    await this.audit.flush();
    return this.#options.storage.audit(session, { ...query, kinds: ["late", "refused"] });
  }

  /**
   * Signs a session's audit as it is now, and gives its lines, as {@link exportLines} says.
   *
   * @throws HoldfastError `invalid_request` for an `after` beyond the last record
   */
  async export(session: string, after = 0): Promise<AsyncGenerator<string, void, void>> {
    await this.audit.flush();
    const { signed } = await this.#sign(session);
    checkRecord(after, signed);
    return exportLines(this.#chain, session, signed, after);
  }

  /** Checks a session's audit against all that was signed of it, with the keys this server has. Costs its whole log. */
  async verify(session: string): Promise<AuditFinding> {
    return verifyAudit(await this.export(session), { keys: this.keys });
  }

  /** The public keys that checkpoints may be signed with, base64url, the one in use first. */
  get keys(): readonly string[] {
    return [this.#chain.key.publicKey, ...this.#chain.formerKeys];
  }

  /** The session is gone, and its audit with it. */
  forget(session: string): void {
    this.#checkpoints.forget(session);
  }

  /** Signs a session's chain as it is now, unless the session is gone; then storage knows that it is signed. */
  async signNow(session: string): Promise<void> {
    if (!(await this.#options.sessions().find(session))) return;
    const { noted } = await this.#sign(session);
    await noted;
  }

  /** Writes what waits, and signs what is new, as long as there are sessions. */
  async sign(): Promise<void> {
    await this.audit.flush();
    await this.#checkpoints.close();
  }

  close(): Promise<void> {
    return this.audit.close();
  }

  /** Signs a session's chain, one time after the other. It is not forgotten meanwhile, to make room for others. */
  async #sign(session: string): Promise<SignedAndNoted> {
    const before = this.#signing.get(session);
    const signing = (async () => {
      await before?.catch(() => {});
      this.#checkpoints.forget(session);
      let actor = await this.#options.sessions().need(session);
      // It may have made room for another since it was found.
      while (actor.dropped) actor = await this.#options.sessions().need(session);
      actor.pins += 1;
      try {
        const signed = await signChain(this.#chain, actor);
        if (!actor.unsigned.mayStand) return { signed, noted: Promise.resolve() };
        const { offset } = signed;
        // Where the actor is of the past by then, the row stays, and its time comes.
        const noted = actor.act(SERVER, () => actor.unsigned.signed(offset)).catch(() => {});
        return { signed, noted };
      } finally {
        actor.pins -= 1;
      }
    })();
    this.#signing.set(session, signing);
    try {
      return await signing;
    } finally {
      if (this.#signing.get(session) === signing) this.#signing.delete(session);
    }
  }
}
