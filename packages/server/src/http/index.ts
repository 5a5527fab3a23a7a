export { createApp } from "./app.ts";
export { parseBody } from "./body.ts";
export type { App, HttpOptions } from "./context.ts";
export { checkOrigins, isWelcome } from "./origin.ts";
export { openPort, type Port } from "./port.ts";
export { refusal, rejectionOf } from "./problem.ts";
export { admit, submitBatch } from "./routes/commands.ts";
export { grantWork } from "./routes/work.ts";
