import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

// What can be durable at all here: a bare node:http server that checks nothing, and answers once the body is a row of a
// SQLite table with the settings of Holdfast's own, one transaction for all that came while the last one was written.
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
  let written: Waiting[] | undefined;
  writer.on("message", () => {
    for (const { response } of written ?? []) {
      response.writeHead(200, { "content-type": "application/json", "content-length": 2 });
      response.end("{}");
    }
    written = undefined;
    write();
  });
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      waiting.push({ response, path: request.url ?? "", body });
      queueMicrotask(write);
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
    if (written || waiting.length === 0) return;
    written = waiting;
    waiting = [];
    writer.postMessage(written.flatMap(({ path, body }) => [path, body]));
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
  parentPort?.on("message", (items: string[]) => {
    database.exec("begin immediate");
    for (let at = 0; at < items.length; at += 2) {
      seq += 1;
      add.run(items[at] ?? "", seq, items[at + 1] ?? "");
    }
    database.exec("commit");
    parentPort?.postMessage(null);
  });
}
