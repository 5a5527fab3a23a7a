import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

// The world that tools have their effects on: `node effect-process.ts <file>`, which tells its parent its URL. Whoever
// sends it a call's key has had an effect, and it writes one more line; nothing it is told is forgotten or merged.
const [file = ""] = process.argv.slice(2);

const server = createServer((request, response) => {
  let key = "";
  request
    .setEncoding("utf8")
    .on("data", (text: string) => (key += text))
    .on("end", () => {
      appendFileSync(file, `${key}\n`);
      response.end();
    });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
process.on("disconnect", () => process.exit());
