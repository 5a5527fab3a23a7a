import type { WebSocketLike } from "../../src/wire/index.ts";

type Frame = Record<string, unknown>;

/** WebSockets over a network that can be cut and that loses what the server says. */
export function createSockets() {
  const open = new Set<Faulty>();
  const sent: Frame[] = [];
  const heard: Frame[] = [];
  let made = 0;
  let isCut = false;
  let loses: (frame: Frame) => boolean = () => false;

  class Faulty implements WebSocketLike {
    readonly #inner: WebSocket;
    readonly #closed: ((event: { code: number; reason: string }) => void)[] = [];
    #gone = false;

    constructor(url: string) {
      made += 1;
      this.#inner = new WebSocket(isCut ? "ws://127.0.0.1:1" : url);
      open.add(this);
      this.#inner.addEventListener("close", ({ code, reason }) => this.#end(code, reason));
    }

    get readyState(): number {
      return this.#gone ? 3 : this.#inner.readyState;
    }

    send(text: string): void {
      if (this.#gone) return;
      sent.push(JSON.parse(text) as Frame);
      this.#inner.send(text);
    }

    close(): void {
      this.#inner.close();
    }

    // One signature for all kinds of events, as the platform has it.
    addEventListener(type: string, listener: (event: never) => void): void {
      const hear = listener as (event: unknown) => void;
      if (type === "close") this.#closed.push(hear);
      else if (type === "message")
        this.#inner.addEventListener("message", (event: MessageEvent<string>) => {
          const frame = JSON.parse(event.data) as Frame;
          if (this.#gone) return;
          if (loses(frame)) return this.cut();
          heard.push(frame);
          hear(event);
        });
      else this.#inner.addEventListener(type, (event) => !this.#gone && hear(event));
    }

    /** Gone at once, without a word to the server but the end of the connection. */
    cut(): void {
      this.#end(1006, "");
      this.#inner.close();
    }

    #end(code: number, reason: string): void {
      if (this.#gone) return;
      this.#gone = true;
      open.delete(this);
      for (const hear of this.#closed) hear({ code, reason });
    }
  }

  return {
    webSocket: Faulty as new (url: string) => WebSocketLike,
    /** Every frame that was sent, and that came through. */
    sent,
    heard,
    /** How many sockets were opened. */
    get made() {
      return made;
    },
    get open() {
      return open.size;
    },
    /** Breaks every socket, and lets no other be made. */
    cut() {
      isCut = true;
      for (const socket of open) socket.cut();
    },
    mend: () => void (isCut = false),
    /** From now on these frames are lost, and their sockets with them. */
    lose: (which: typeof loses) => void (loses = which),
  };
}
