import type { FrameText } from "./frame.ts";

/**
 * The live end of one reader: frames wait here, at most `maxBytes` of them. A reader that falls further behind is
 * closed rather than waited for; its cursor is still good.
 */
export class Subscription {
  readonly #maxBytes: number;
  readonly #onSlow: (() => void) | undefined;
  #frames: FrameText[] = [];
  #bytes = 0;
  #ended: "closed" | "slow" | undefined;
  #wake: (() => void) | undefined;

  /** @param onSlow called once, when the reader fell behind */
  constructor(maxBytes: number, onSlow?: () => void) {
    this.#maxBytes = maxBytes;
    this.#onSlow = onSlow;
  }

  /** `slow` once the reader fell behind; `closed` when there will be no more frames. */
  get ended(): "closed" | "slow" | undefined {
    return this.#ended;
  }

  /** False when the frame did not fit and the subscription is over. */
  push(frame: FrameText): boolean {
    if (this.#ended) return false;
    if (this.#bytes + frame.text.length > this.#maxBytes && this.#frames.length > 0) {
      this.#end("slow");
      return false;
    }
    this.#frames.push(frame);
    this.#bytes += frame.text.length;
    this.#signal();
    return true;
  }

  /** No more frames; those that wait can still be taken. */
  close(): void {
    if (!this.#ended) this.#end("closed");
  }

  /** All frames that wait, at least one; undefined at the end. One reader only. */
  async take(): Promise<FrameText[] | undefined> {
    while (this.#frames.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const frames = this.#frames;
    this.#frames = [];
    this.#bytes = 0;
    return frames;
  }

  #end(how: "closed" | "slow"): void {
    this.#ended = how;
    if (how === "slow") this.#frames = [];
    this.#signal();
    if (how === "slow") this.#onSlow?.();
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
