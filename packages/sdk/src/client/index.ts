export { declarationOf, provideTool } from "./client-tool.ts";
export type { ClientTool, ProvideOptions, ToolContext, ToolProvision } from "./client-tool.ts";
export type {
  AnswerOptions,
  DecideOptions,
  SendOptions,
  SessionCommands,
  SubmitOptions,
} from "./commands.ts";
export { createClient } from "./create-client.ts";
export type { Client, ClientOptions, OpenOptions } from "./create-client.ts";
export { nextFrame } from "./notifier.ts";
export type { Schedule } from "./notifier.ts";
export type { CreateOptions, Session } from "./session.ts";
export type { SessionStatus } from "./status.ts";
export { createSocket, createTransport, follow } from "../wire/index.ts";
export type {
  Backoff,
  Connectivity,
  Followed,
  FollowOptions,
  Link,
  SessionSocket,
  SocketLane,
  SocketOptions,
  Timing,
  Transport,
  TransportOptions,
  WebSocketLike,
} from "../wire/index.ts";
export type { ToolRequest } from "./tool-request.ts";
export type { StandardSchema, ToolSchema } from "./tool-schema.ts";
