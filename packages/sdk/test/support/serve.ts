import { parentPort } from "node:worker_threads";
import { createServer } from "holdfast";
import { memoryStorage } from "../../../server/src/storage/memory.ts";

// A real server in a thread of its own, for tests whose globals are a browser's.
const server = createServer({ storage: memoryStorage(), dev: true });
const { url } = await server.listen();
parentPort?.postMessage(url);
