import type { Case } from "./bad-input.ts";

const run = {
  threadId: "nowhere",
  runId: "r",
  messages: [{ id: "m", role: "user", content: "x" }],
};

/** AG-UI requests that are refused before there is a stream. */
export const agUiRequests: readonly Case[] = [
  {
    what: "an AG-UI run of an unknown session",
    path: "/v1/sessions/nowhere/ag-ui",
    body: run,
    code: "unknown_session",
    status: 404,
    says: "nowhere",
  },
  {
    what: "an AG-UI run that is no input",
    path: "/v1/sessions/s/ag-ui",
    body: { ...run, threadId: "s", messages: [{ id: "m", role: "user", content: 7 }] },
    code: "invalid_request",
    status: 400,
    says: "RunAgentInput.messages.0.content",
  },
  {
    what: "an AG-UI run that is too large",
    path: "/v1/agents/demo/ag-ui",
    body: { ...run, state: "x".repeat(10_000) },
    code: "too_large",
    status: 413,
    says: "10000 bytes",
  },
  {
    what: "an AG-UI thread of an unknown session",
    path: "/v1/agents/demo/ag-ui/connect",
    body: { threadId: "nowhere" },
    code: "unknown_session",
    status: 404,
    says: "nowhere",
  },
  {
    what: "a stop of a run whose name is none",
    path: "/v1/sessions/s/ag-ui/stop",
    body: { runId: 7 },
    code: "invalid_request",
    status: 400,
    says: "runId",
  },
];
