import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  isMainThread,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from "node:worker_threads";

// What can be durable at all here: a bare node:http server that checks nothing, and answers once the body is a row of a
// SQLite table with the settings of Holdfast's own, all of a turn to a message, and all that wait to a transaction.
if (isMainThread) serve(mkdtempSync(join(tmpdir(), "bench-bare-durable-")));
else store(workerData);

interface Waiting {
  readonly response: ServerResponse;
  readonly path: string;
  readonly body: string;
}

function serve(directory: string): void {
  const writer = new Worker(new URL(import.meta.url), { workerData: directory });
  let waiting: Waiting[] = [];
  const written: Waiting[][] = [];
  writer.on("message", () => {
    for (const { response } of written.shift() ?? []) {
      response.writeHead(200, { "content-type": "application/json", "content-length": 2 });
      response.end("{}");
    }
  });
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      waiting.push({ response, path: request.url ?? "", body });
      if (waiting.length === 1) setImmediate(write);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address)
      process.send?.({ url: `http://127.0.0.1:${address.port}` });
  });
  process.on("disconnect", () => {
    void writer.terminate().then(() => {
      rmSync(directory, { recursive: true, force: true });
      process.exit(0);
    });
  });

  function write(): void {
    writer.postMessage(waiting.flatMap(({ path, body }) => [path, body]));
    written.push(waiting);
    waiting = [];
  }
}

function store(directory: string): void {
  const database = new DatabaseSync(join(directory, "bare.db"));
  database.exec(`
    pragma synchronous = full;
    pragma journal_mode = wal;
    pragma wal_autocheckpoint = 4000;
    create table item (stream text, seq integer, body text, primary key (stream, seq)) without rowid;
  `);
  const add = database.prepare("insert into item values (?, ?, ?)");
  let seq = 0;
  parentPort?.on("message", (first: string[]) => {
    const groups = [first];
    for (;;) {
      const next = parentPort && receiveMessageOnPort(parentPort);
      if (!next) break;
      groups.push(next.message as string[]);
    }
    database.exec("begin immediate");
    for (const items of groups) {
      for (let at = 0; at < items.length; at += 2) {
        seq += 1;
        add.run(items[at] ?? "", seq, items[at + 1] ?? "");
      }
    }
    database.exec("commit");
    for (const _ of groups) parentPort?.postMessage(null);
  });
}
