import { AGUIUnknownEventTypeError, decode } from "@ag-ui/proto";
import { LONGEST, misread, type Recorded } from "./recorded-item.ts";

/** What stands before each event: its length, in bytes. */
const HEAD = 4;

/** Reads the events of AG-UI's protobuf binding, each behind its length, however the bytes are cut. */
export class BinaryReader {
  #rest: Buffer = Buffer.alloc(0);
  #count = 0;
  /** Nothing after a length that cannot be is where it seems to be. */
  #isLost = false;

  *take(bytes: Uint8Array): Generator<Recorded, void, void> {
    if (this.#isLost) return;
    this.#rest = Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (this.#rest.length - at >= HEAD) {
      const length = this.#rest.readUInt32BE(at);
      if (length > LONGEST) {
        this.#isLost = true;
        yield misread(
          `Frame ${this.#count} has ${length} bytes: stock clients read ${LONGEST} at most.`,
        );
        return;
      }
      const end = at + HEAD + length;
      if (this.#rest.length < end) break;
      yield eventIn(this.#rest.subarray(at + HEAD, end), this.#count);
      this.#count += 1;
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
  }

  *end(): Generator<Recorded, void, void> {
    if (!this.#isLost && this.#rest.length > 0) {
      yield misread(`The stream ends in the middle of frame ${this.#count}.`);
    }
  }
}

function eventIn(bytes: Uint8Array, count: number): Recorded {
  try {
    return { event: decode(bytes) };
  } catch (error) {
    // It is one of a later version, whose name the binding does not carry.
    if (error instanceof AGUIUnknownEventTypeError)
      return { event: { type: "of a later version" } };
    const why = error instanceof Error ? error.message : "";
    return misread(`Frame ${count} is no event: ${why}`);
  }
}
