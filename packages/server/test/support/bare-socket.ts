import { once } from "node:events";
import { connect } from "node:net";
import { until } from "./clock.ts";

/** A WebSocket client that knows no manners: it sends what it is told to, and never answers a close. */
export interface BareSocket extends Disposable {
  readonly write: (bytes: Uint8Array) => void;
  /** One whole text frame. */
  readonly send: (frame: object) => void;
  /** Resolves once this was heard. */
  readonly heard: (text: string) => Promise<void>;
  /** Resolves when the server has cut it. */
  readonly cut: Promise<unknown>;
}

export async function bareSocket(url: string): Promise<BareSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  let all = "";
  socket.setEncoding("latin1").on("data", (text: string) => (all += text));
  await once(socket, "connect");
  const key = Buffer.alloc(16).toString("base64");
  socket.write(
    `GET /v1/ws HTTP/1.1\r\nhost: ${hostname}\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
  );
  const heard = (text: string) => until(`it hears ${text}`, () => all.includes(text));
  await heard("\r\n\r\n");
  return {
    write: (bytes) => void socket.write(bytes),
    send: (frame) => void socket.write(textFrame(JSON.stringify(frame))),
    heard,
    cut: new Promise((resolve) => socket.once("close", resolve)),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** A text frame under a mask of zeros; `declared` where its head is to say another length than it has. */
export function textFrame(text: string, declared = Buffer.byteLength(text)): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(declared), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}
