import { createServer } from "node:http";

// What this machine can do at all: a bare node:http server that reads the body and sends it back.
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address)
    process.send?.({ url: `http://127.0.0.1:${address.port}` });
});
process.on("disconnect", () => process.exit(0));
