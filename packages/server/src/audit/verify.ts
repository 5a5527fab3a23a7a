import {
  canonical,
  payloadText,
  type AuditDropped,
  type AuditRefusal,
  type Event,
} from "@holdfast/protocol";
import {
  chainStart,
  hashOf,
  sha256,
  type ActRecord,
  type ChainHead,
  type RefusalLink,
} from "./chain.ts";
import { isGenuine, type Checkpoint } from "./checkpoint.ts";

/** The first line of an export. */
export interface AuditHeader {
  readonly kind: "session";
  readonly format: 1;
  readonly session: string;
  /** The record the first one follows. */
  readonly after: ChainHead;
}

/** An act with what was written, unless that was erased or left out. */
export interface ActLine extends ActRecord {
  readonly payload?: Event;
  readonly salt?: string;
}

/** A refusal with what is kept of it. */
export interface RefusalLine extends RefusalLink {
  readonly record: RefusalRecord;
  readonly content?: string;
  readonly salt?: string;
}

/** What happened, without what was sent. */
export type RefusalRecord =
  | Omit<AuditRefusal, "seq" | "content" | "salt">
  | Omit<AuditDropped, "seq">;

export type AuditLine = AuditHeader | ActLine | RefusalLine | Checkpoint;

/** What an export was found to be. */
export interface AuditFinding {
  /** Everything is what was signed, up to `upTo`. */
  readonly ok: boolean;
  readonly session?: string;
  /** The record that it begins behind, where it is not all of the session's: what came before was not looked at. */
  readonly after?: number;
  /** The last record's number. */
  readonly records: number;
  readonly refusals: number;
  /** Checkpoints whose signature and hash are right, the export's end aside. */
  readonly checkpoints: number;
  /** Records whose content is not there, since it was erased or left out; their digests are. */
  readonly withoutContent: number;
  /** When the export was made, Unix milliseconds, and the log's head then. */
  readonly upTo?: { readonly at: number; readonly offset: string };
  /** What is wrong first. Lines count from 1. */
  readonly broken?: { readonly line: number; readonly why: string };
}

/**
 * Checks an export, line by line and in one pass: that each record follows from the one before, that digests are of what
 * is there, and that every checkpoint and the end were signed with one of `keys` for exactly this. Nothing but the keys
 * is trusted. Finds any change, though not what was left out as a whole: contents, which are counted, and what came
 * after the export. Reads no further than what is wrong.
 *
 * @param lines without their line feeds
 * @param options.keys public keys, base64url
 */
export async function verifyAudit(
  lines: AsyncIterable<string> | Iterable<string>,
  options: { readonly keys: readonly string[] },
): Promise<AuditFinding> {
  const check = new Check(options.keys);
  let line = 0;
  try {
    for await (const text of lines) {
      line += 1;
      check.line(text);
    }
    line += 1;
    check.ended();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { ok: false, ...check.counts, broken: { line, why: error.message } };
  }
  return { ok: true, ...check.counts };
}

/** What is wrong with an export; never leaves this file. */
class Wrong extends Error {}

/** Goes through an export's lines in order: header, acts with checkpoints between them, refusals, end. */
class Check {
  readonly #keys: readonly string[];
  #session: string | undefined;
  /** The record that the first one follows. */
  #after = 0;
  #head: ChainHead = { n: 0, hash: "" };
  /** The hash of the last refusal, once there is one. */
  #tail: string | undefined;
  #signed = 0;
  #refusals = 0;
  #checkpoints = 0;
  #withoutContent = 0;
  /** The last one that was signed. */
  #last: Checkpoint | undefined;
  #end: Checkpoint | undefined;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  get counts() {
    const { at, offset } = this.#end ?? {};
    return {
      ...(this.#session !== undefined && { session: this.#session }),
      ...(this.#after > 0 && { after: this.#after }),
      records: this.#head.n,
      refusals: this.#refusals,
      checkpoints: this.#checkpoints,
      withoutContent: this.#withoutContent,
      ...(at !== undefined && offset !== undefined && { upTo: { at, offset } }),
    };
  }

  line(text: string): void {
    const line = parse(text);
    if (this.#end) throw new Wrong("Something follows the end.");
    if (line.kind === "session" || this.#session === undefined) return this.#header(line, text);
    switch (line.kind) {
      case "act":
        return this.#act(line);
      case "refusal":
        return this.#refusal(line);
      case "checkpoint":
        return this.#checkpoint(line, this.#session);
      case "end":
        return this.#ends(line, this.#session);
      default:
        throw new Wrong("The line is of no known kind.");
    }
  }

  ended(): void {
    if (!this.#end) throw new Wrong("The export has no end: it was cut off.");
  }

  #header(line: AuditLine, text: string): void {
    if (line.kind !== "session" || this.#session !== undefined) {
      throw new Wrong("An export begins with its session, once.");
    }
    const { kind, format, session, after } = line;
    const { n, hash } = after ?? {};
    const isFirst = n === 0 && hash === chainStart(session).hash;
    const isLater = Number.isSafeInteger(n) && n > 0 && typeof hash === "string";
    if (format !== 1 || canonical({ kind, format, session, after: { n, hash } }) !== text) {
      throw new Wrong("The first line is not of an export that this version knows.");
    }
    if (!isFirst && !isLater) throw new Wrong("The chain does not begin as this session's does.");
    this.#session = session;
    this.#head = { n, hash };
    this.#after = n;
    this.#signed = n;
  }

  #act({ payload, salt, ...record }: ActLine): void {
    if (this.#tail !== undefined) throw new Wrong(`Record ${record.n} stands behind refusals.`);
    this.#follows(record, this.#head.hash, `Record ${this.#head.n + 1}`);
    if (record.n !== this.#head.n + 1) {
      throw new Wrong(`Record ${this.#head.n + 1} has number ${record.n}.`);
    }
    this.#content(
      payload && { text: payloadText({ event: payload, ...(salt !== undefined && { salt }) }) },
      salt,
      record.digest,
      `record ${record.n}`,
    );
    this.#head = { n: record.n, hash: record.hash };
  }

  #refusal({ record, content, salt, ...link }: RefusalLine): void {
    const name = `Refusal ${link.seq}`;
    this.#follows(link, this.#tail ?? this.#head.hash, name);
    if (sha256(canonical(record)) !== link.digest) throw new Wrong(`${name} was changed.`);
    if (record.type === "late_answer") {
      const { digest, kept } = record.payload;
      this.#content(
        content === undefined ? undefined : { text: `${salt ?? ""}\n${content}` },
        salt,
        kept ?? digest,
        `refusal ${link.seq}`,
      );
    } else if (content !== undefined || salt !== undefined) {
      throw new Wrong(`${name} has content that is none of its own.`);
    }
    this.#tail = link.hash;
    this.#refusals += 1;
  }

  #checkpoint(line: Checkpoint, session: string): void {
    if (this.#tail !== undefined) throw new Wrong("A checkpoint stands behind refusals.");
    this.#isSigned(line, session, "The checkpoint");
    this.#checkpoints += 1;
    this.#signed = line.n;
  }

  #ends(line: Checkpoint, session: string): void {
    this.#isSigned(line, session, "The end");
    const { refusals, checkpoints } = line;
    if (refusals.count !== this.#refusals || refusals.hash !== (this.#tail ?? this.#head.hash)) {
      throw new Wrong("The refusals are not those that were signed: some are gone or were added.");
    }
    if (checkpoints !== this.#checkpoints) {
      throw new Wrong(`Of ${checkpoints} checkpoints, ${this.#checkpoints} are there.`);
    }
    this.#end = line;
  }

  #follows(link: { prev: string; hash: string }, prev: string, name: string): void {
    if (hashOf(link) !== link.hash) throw new Wrong(`${name} was changed.`);
    if (link.prev !== prev) throw new Wrong(`${name} does not follow the one before it.`);
  }

  #content(
    content: { readonly text: string } | undefined,
    salt: string | undefined,
    digest: string,
    of: string,
  ): void {
    if (!content && salt !== undefined) throw new Wrong(`The content of ${of} was taken out.`);
    if (!content) this.#withoutContent += 1;
    else if (sha256(content.text) !== digest) throw new Wrong(`The content of ${of} was changed.`);
  }

  #isSigned(line: Checkpoint, session: string, name: string): void {
    if (!isGenuine(line, session, this.#keys)) {
      throw new Wrong(
        `${name} after record ${this.#head.n} is not signed with a key that was given.`,
      );
    }
    if (line.n !== this.#head.n || line.hash !== this.#head.hash) {
      throw new Wrong(
        `${name} of record ${line.n} was signed for something else: a record after ${this.#signed} was changed, added or removed.`,
      );
    }
    if (this.#last && isBefore(line, this.#last)) {
      throw new Wrong(`${name} of record ${line.n} stands behind a later one.`);
    }
    this.#last = line;
    const { lost } = line.refusals;
    if (lost)
      throw new Wrong(`Refusals were removed or changed where they are kept: ${lost.join(", ")}.`);
  }
}

/** Of two that were signed after one record: a log's offsets, and its audit's numbers, only grow. */
function isBefore(a: Checkpoint, b: Checkpoint): boolean {
  return a.offset < b.offset || (a.offset === b.offset && a.refusals.seq < b.refusals.seq);
}

/** A line's value. Each value has one text, so that no byte can change without being seen. */
function parse(text: string): AuditLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (typeof line !== "object" || line === null || canonical(line) !== text) {
    throw new Wrong("The line is not as it was written.");
  }
  return line as AuditLine; // its members are checked before they are used
}
