import type { CommandBody } from "@holdfast/protocol";
import type { Answered, Asked, Scene } from "./scene.ts";

/** One thing that can be asked of a server. */
export interface Act {
  readonly name: string;
  /** The session it is about; undefined where it is about all. */
  readonly session?: string;
  /** All of what it takes; `attempt` is the token of the run's attempt. */
  readonly needs: readonly string[];
  readonly asked: (scene: Scene) => Omit<Asked, "token">;
  /** A command may also travel in a batch, whose status says nothing of it. */
  readonly command?: (scene: Scene) => CommandBody;
  readonly works: (answer: Answered) => boolean;
  readonly isRefused: (answer: Answered) => boolean;
}

/** An attempt is told that a client's call, or the claim on it, is not its own. */
const forbidden = ({ text }: Answered) => /"code":"(forbidden|not_executor|claim_held)"/.test(text);

const command = (
  name: string,
  needs: readonly string[],
  body: (scene: Scene) => CommandBody,
): Act => ({
  name,
  needs,
  session: "team-a-1",
  command: body,
  asked: (scene) => ({
    method: "POST",
    path: "/v1/sessions/team-a-1/commands",
    body: { id: "act", ...body(scene) },
  }),
  works: ({ status, text }) => status === 200 && JSON.parse(text).status === "applied",
  isRefused: forbidden,
});

const request = (
  name: string,
  need: string,
  [method, session, rest = "", body]: readonly [string, string, string?, unknown?],
  headers?: Record<string, string>,
): Act => ({
  name,
  session,
  needs: [need],
  asked: () => ({
    method,
    path: `/v1/sessions/${session}${rest}`,
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
  }),
  works: ({ status }) => status >= 200 && status < 300,
  isRefused: forbidden,
});

/** An AG-UI request, whose stream is read no further than its first words. */
const agUi = (
  name: string,
  needs: readonly string[],
  verb: string,
  body: (scene: Scene) => object,
): Act => ({
  name,
  session: "team-a-1",
  needs,
  asked: (scene) => ({
    method: "POST",
    path: `/v1/sessions/team-a-1/ag-ui${verb}`,
    body: body(scene),
  }),
  works: ({ status }) => status === 200,
  isRefused: forbidden,
});
const input = (more: object) => ({ threadId: "team-a-1", runId: "r", messages: [], ...more });

const answer = { outcome: "ok", answer: { type: "json", value: 1 } } as const;
const message = { type: "message.send", messageId: "m", content: "x" } as const;
const attempted = (scene: Scene) => ({
  runId: scene.runId,
  attempt: 1,
  producer: "other",
  seq: 1,
});

/** Everything that can be asked, beside tokens of development. */
export const ACTS: readonly Act[] = [
  request("see a session", "read", ["GET", "team-a-1"]),
  request("see its state", "read", ["GET", "team-a-1", "/state"]),
  request("see its log", "read", ["GET", "team-a-1", "/entries"]),
  request("follow it", "read", ["GET", "team-a-1", "/entries"], { accept: "text/event-stream" }),
  {
    name: "find it in the list",
    session: "team-a-1",
    needs: ["list"],
    asked: () => ({ method: "GET", path: "/v1/sessions" }),
    works: ({ text }) => text.includes("team-a-1"),
    isRefused: ({ status, text }) =>
      status === 403 || (status === 200 && text === '{"sessions":[]}'),
  },
  request("create a session", "send", ["PUT", "team-a-2", "", { agent: "demo" }]),
  request("find one by creating it", "send", ["PUT", "team-a-1", "", { agent: "demo" }]),
  request("create one with a policy", "admin", [
    "PUT",
    "team-a-2",
    "",
    { policy: { whileActive: "refuse" } },
  ]),
  request("delete it", "admin", ["DELETE", "team-a-1"]),
  ...["GET", "POST"].map((method) => ({
    name: `${method} revocations`,
    needs: ["admin"],
    asked: () => ({
      method,
      path: "/v1/revocations",
      ...(method === "POST" && { body: { token: "some" } }),
    }),
    works: ({ status }: Answered) => status === 200,
    isRefused: forbidden,
  })),
  {
    name: "claim work",
    session: "team-a-9",
    needs: ["agent:demo"],
    asked: () => ({
      method: "POST",
      path: "/v1/work/claim",
      body: { agent: "demo", worker: "w2", waitMs: 0 },
    }),
    works: ({ status }) => status === 200,
    isRefused: (answered) => answered.status === 204 || forbidden(answered),
  },
  command("send a message", ["send"], () => message),
  command("send one in place of what runs", ["send", "cancel"], () => ({
    ...message,
    whileActive: "replace",
  })),
  command("request a run", ["send"], ({ runId }) => ({
    type: "run.request",
    requestId: "r",
    digest: "d",
    of: { runId },
  })),
  command("request the run of a call", ["request:location"], () => ({
    type: "run.request",
    requestId: "r",
    digest: "d",
    of: { callId: "open" },
  })),
  command("request it and tell the agent more", ["request:location", "send"], () => ({
    type: "run.request",
    requestId: "r",
    digest: "d",
    of: { callId: "open" },
    input: {},
  })),
  agUi("run it over AG-UI", ["read", "send"], "", () =>
    input({ messages: [{ id: "m", role: "user", content: "x" }] }),
  ),
  agUi("answer over AG-UI", ["read", "answer:location"], "", () =>
    input({ messages: [{ id: "t", role: "tool", toolCallId: "open", content: "here" }] }),
  ),
  agUi("decide over AG-UI", ["read", "approve:transfer"], "", ({ approvalId }) =>
    input({ resume: [{ interruptId: approvalId, status: "cancelled" }] }),
  ),
  agUi("advertise over AG-UI", ["read", "send", "answer:camera"], "", () =>
    input({
      messages: [{ id: "m", role: "user", content: "x" }],
      tools: [{ name: "camera", description: "sees" }],
    }),
  ),
  agUi("join over AG-UI", ["read"], "/connect", () => ({})),
  agUi("stop over AG-UI", ["cancel"], "/stop", () => ({})),
  command("cancel a run", ["cancel"], ({ runId }) => ({ type: "run.cancel", runId })),
  command("cancel a call", ["cancel"], () => ({ type: "call.cancel", callId: "open" })),
  command("set the policy", ["admin"], () => ({
    type: "policy.set",
    policy: { whileActive: "refuse" },
  })),
  command("change its metadata", ["admin"], () => ({
    type: "session.update",
    metadata: { stage: "new" },
  })),
  command("close it", ["admin"], () => ({ type: "session.close" })),
  command("erase a message", ["admin"], () => ({
    type: "content.erase",
    messageId: "said-team-a-1",
  })),
  command("advertise a tool", ["answer:location"], () => ({
    type: "tools.advertise",
    tools: [{ name: "location" }],
  })),
  command("advertise two", ["answer:location", "answer:camera"], () => ({
    type: "tools.advertise",
    tools: [{ name: "location" }, { name: "camera" }],
  })),
  command("claim a call", ["answer:location"], () => ({ type: "call.claim", callId: "open" })),
  command("renew a claim", ["answer:location"], ({ claimId }) => ({
    type: "call.renew",
    callId: "held",
    claimId,
  })),
  command("release a claim", ["answer:location"], ({ claimId }) => ({
    type: "call.release",
    callId: "held",
    claimId,
  })),
  command("report progress", ["answer:location"], ({ claimId }) => ({
    type: "call.progress",
    callId: "held",
    claimId,
    progress: 1,
  })),
  command("answer a call", ["answer:location"], () => ({
    type: "call.answer",
    callId: "open",
    ...answer,
  })),
  command("approve a call", ["approve:transfer"], ({ approvalId }) => ({
    type: "call.decide",
    callId: "gated",
    approvalId,
    approved: true,
  })),
  command("approve it for always", ["approve:transfer"], ({ approvalId }) => ({
    type: "call.decide",
    callId: "gated",
    approvalId,
    approved: true,
    always: true,
  })),
  command("deny it", ["approve:transfer"], ({ approvalId }) => ({
    type: "call.decide",
    callId: "gated",
    approvalId,
    approved: false,
  })),
  command("take an approval back", ["approve:transfer"], () => ({
    type: "approval.revoke",
    tool: "transfer",
  })),
  command("append", ["attempt"], (scene) => ({
    type: "run.append",
    ...attempted(scene),
    items: [{ type: "round.open" }],
  })),
  command("heartbeat", ["attempt"], ({ runId }) => ({ type: "run.heartbeat", runId, attempt: 1 })),
  command("start a step", ["attempt"], (scene) => ({
    type: "step.start",
    ...attempted(scene),
    stepId: "s",
  })),
  command("finish", ["attempt"], (scene) => ({ type: "run.finish", ...attempted(scene) })),
  command("fail", ["attempt"], (scene) => ({
    type: "run.fail",
    ...attempted(scene),
    error: { code: "x", message: "x" },
  })),
  command("hand back", ["attempt"], (scene) => ({ type: "run.release", ...attempted(scene) })),
];
