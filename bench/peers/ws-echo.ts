import { WebSocketServer, type WebSocket } from "ws";

// What this machine can do at all: a bare `ws` server that sends each frame back as it came.
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket: WebSocket) => {
  socket.on("message", (frame: Buffer) => socket.send(frame, { binary: false }));
});
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address)
    process.send?.({ url: `http://127.0.0.1:${address.port}` });
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 });
});
process.on("disconnect", () => process.exit(0));
