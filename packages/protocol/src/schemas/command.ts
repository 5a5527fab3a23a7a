import { z } from "zod";
import { COMMAND_TYPES, type Command } from "../command.ts";
import { HoldfastError, reject } from "../errors.ts";
import { parseAppend } from "./append.ts";
import * as f from "./fields.ts";
import { invalid, parse, tooLong } from "./invalid.ts";

/**
 * Reads one command from parsed JSON. Unknown fields are dropped.
 *
 * @throws HoldfastError `unknown_command` for a type that does not exist, listing those that do; `invalid_request`
 *   for everything else that does not fit, naming where.
 */
export function parseCommand(value: unknown): Command {
  if (!f.isObject(value)) {
    throw invalid("command", "must be an object with an id and a type");
  }
  const { type } = value;
  if (typeof type !== "string") throw invalid("type", "must be a command's type");
  if (!f.isId(value["id"])) {
    throw invalid(
      "id",
      `must be a non-empty string of at most ${f.MAX_ID} characters`,
      tooLong(value["id"], f.MAX_ID),
    );
  }
  if (type === "run.append") return parseAppend(value);
  const schema = SCHEMAS.get(type);
  if (!schema) {
    throw new HoldfastError(
      reject("unknown_command", `There is no command ${show(type)}: send ${list()}.`, {
        known: COMMAND_TYPES,
      }),
    );
  }
  return parse(schema, value, type) as Command;
}

const fence = {
  id: f.id,
  runId: f.id,
  attempt: f.count,
  producer: f.id,
  seq: f.count,
};
const call = { id: f.id, callId: f.id };
const progress = {
  claimId: f.id.optional(),
  progress: f.json,
  metadata: f.metadata.optional(),
};
const answer = {
  claimId: f.id.optional(),
  outcome: f.outcome,
  answer: f.answer,
  declined: f.flag.optional(),
  messageId: f.id.optional(),
  metadata: f.metadata.optional(),
};

const byType = {
  "message.send": z.object({
    type: z.literal("message.send"),
    id: f.id,
    messageId: f.id,
    role: z
      .literal("user", "must be user: what an assistant says is appended by its run")
      .optional(),
    content: f.content,
    parentId: f.id.optional(),
    whileActive: f.policy.shape.whileActive,
    whilePending: f.policy.shape.whilePending,
    metadata: f.metadata.optional(),
  }),
  "run.request": z.object({
    type: z.literal("run.request"),
    id: f.id,
    requestId: f.id,
    digest: f.text
      .min(1, "must not be empty")
      .max(f.MAX_ID, `must have at most ${f.MAX_ID} characters`),
    of: z.union(
      [
        z.strictObject({ messageId: f.id }),
        z.strictObject({ callId: f.id }),
        z.strictObject({ runId: f.id }),
      ],
      "must be {messageId}, {callId} or {runId}",
    ),
    input: z
      .object(
        {
          state: f.json.optional(),
          context: z.array(f.json, "must be an array").optional(),
          forwardedProps: f.json.optional(),
          parentRunId: f.text.optional(),
          instructions: z.array(f.json, "must be an array").optional(),
        },
        "must be an object",
      )
      .optional(),
  }),
  "run.cancel": z.object({
    type: z.literal("run.cancel"),
    id: f.id,
    runId: f.id,
    reason: f.text.optional(),
  }),
  "tools.advertise": z.object({ type: z.literal("tools.advertise"), id: f.id, tools: f.tools }),
  "policy.set": z.object({ type: z.literal("policy.set"), id: f.id, policy: f.policy }),
  "session.update": z.object({
    type: z.literal("session.update"),
    id: f.id,
    metadata: f.metadata.optional(),
    ttlMs: f.ttlMs.nullable().optional(),
  }),
  "content.erase": z
    .object({
      type: z.literal("content.erase"),
      id: f.id,
      callId: f.id.optional(),
      messageId: f.id.optional(),
      runId: f.id.optional(),
      reason: f.text.optional(),
    })
    .refine(
      ({ callId, messageId, runId }) =>
        [callId, messageId, runId].filter((id) => id !== undefined).length === 1,
      { error: "must be there, or else a messageId or a runId", path: ["callId"] },
    ),
  "session.close": z.object({
    type: z.literal("session.close"),
    id: f.id,
    reason: f.text.optional(),
  }),
  "call.decide": z.object({
    type: z.literal("call.decide"),
    ...call,
    approvalId: f.id.optional(),
    digest: f.text.optional(),
    approved: f.flag,
    reason: f.text.optional(),
    arguments: f.text.optional(),
    always: f.flag.optional(),
    payload: f.json.optional(),
  }),
  "approval.revoke": z.object({ type: z.literal("approval.revoke"), id: f.id, tool: f.name }),
  "call.cancel": z.object({
    type: z.literal("call.cancel"),
    ...call,
    reason: f.text.optional(),
  }),
  "call.claim": z.object({
    type: z.literal("call.claim"),
    ...call,
    force: f.flag.optional(),
    toolDigest: f.text.optional(),
  }),
  "call.renew": z.object({ type: z.literal("call.renew"), ...call, claimId: f.id }),
  "call.release": z.object({ type: z.literal("call.release"), ...call, claimId: f.id }),
  "call.progress": z.object({ type: z.literal("call.progress"), ...call, ...progress }),
  "call.answer": z.object({ type: z.literal("call.answer"), ...call, ...answer }),
  "run.heartbeat": z.object({
    type: z.literal("run.heartbeat"),
    id: f.id,
    runId: f.id,
    attempt: f.count,
    until: f.count.optional(),
  }),
  "step.start": z.object({ type: z.literal("step.start"), ...fence, stepId: f.id }),
  "step.end": z.object({
    type: z.literal("step.end"),
    ...fence,
    stepId: f.id,
    stepAttempt: f.count,
  }),
  "run.release": z.object({ type: z.literal("run.release"), ...fence }),
  "run.finish": z.object({ type: z.literal("run.finish"), ...fence }),
  "run.fail": z.object({
    type: z.literal("run.fail"),
    ...fence,
    error: z.object({ code: f.text, message: f.text }, "must be {code, message}"),
  }),
} satisfies Record<Exclude<Command["type"], "run.append">, z.ZodType>;

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(byType));

function show(type: string): string {
  return JSON.stringify(type.slice(0, 64));
}

function list(): string {
  return COMMAND_TYPES.join(", ");
}
