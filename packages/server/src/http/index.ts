export { createApp } from "./app.ts";
export { parseBody } from "./body.ts";
export { directCommands } from "./direct.ts";
export type { App, HttpOptions } from "./context.ts";
export { checkOrigins, isWelcome } from "./origin.ts";
export { problemOfRequest, refusal, rejectionOf } from "./problem.ts";
export { admit, submitBatch } from "./routes/commands.ts";
export { grantWork } from "./routes/work.ts";
