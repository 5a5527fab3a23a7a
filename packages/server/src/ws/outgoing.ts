import type { Duplex } from "node:stream";
import type { ServerFrame, SocketRef } from "@holdfast/protocol";
import type { WebSocket } from "ws";

/** The way out of one socket. What is said in one turn leaves in one write. */
export interface Outgoing {
  send(frame: ServerFrame): void;
  /** A frame that is JSON already. */
  write(frame: string | Uint8Array): void;
  /** The reader is behind: more waits for it than it may. */
  readonly blocked: boolean;
  /** Resolves once the reader has taken what waits, or is gone; undefined where there is room at once. */
  room(): Promise<void> | undefined;
  /** Ends every wait for room. */
  end(): void;
}

/** @param onDrain called when a reader that was behind has caught up */
export function createOutgoing(
  ws: WebSocket,
  raw: Duplex,
  { bufferBytes, onDrain }: { readonly bufferBytes: number; readonly onDrain: () => void },
): Outgoing {
  let corked = false;
  let ended = false;
  let waiting: (() => void)[] = [];

  function uncork(): void {
    corked = false;
    raw.uncork();
  }

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  }

  raw.on("drain", () => {
    onDrain();
    wake();
  });

  /** Below what a stream holds by itself there is nothing to wait for: it says nothing when it is taken. */
  const most = Math.max(bufferBytes, raw.writableHighWaterMark);
  const isBlocked = () => ws.bufferedAmount >= most && raw.writableNeedDrain;

  function write(frame: string | Uint8Array): void {
    if (ws.readyState !== ws.OPEN) return;
    if (!corked) {
      corked = true;
      raw.cork();
      process.nextTick(uncork);
    }
    ws.send(frame, TEXT);
  }

  return {
    send: (frame) => write(JSON.stringify(frame)),
    write,
    get blocked() {
      return isBlocked();
    },
    room() {
      if (ended || !isBlocked()) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
    end() {
      ended = true;
      wake();
    },
  };
}

/** What the answer to a frame repeats of it. */
export function refIn({ ref }: { readonly ref?: SocketRef }): { readonly ref?: SocketRef } {
  return ref === undefined ? {} : { ref };
}

const TEXT = { binary: false, compress: false };
