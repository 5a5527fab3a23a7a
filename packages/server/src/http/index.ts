export { createApp } from "./app.ts";
export { directCommands } from "./direct.ts";
export type { App, HttpOptions } from "./context.ts";
export { isLoopback } from "./loopback.ts";
export { problemOfRequest } from "./problem.ts";
