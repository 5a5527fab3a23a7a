export { createApp } from "./app.ts";
export { directCommands } from "./direct.ts";
export type { App, HttpOptions } from "./context.ts";
export { checkOrigins } from "./origin.ts";
export { problemOfRequest } from "./problem.ts";
