import { ContentPartSchema } from "@ag-ui/core/schemas";
import { z } from "zod";
import { isObject, type Json, type Metadata } from "../json.ts";

/** The longest id anything may have. */
export const MAX_ID = 256;

/** Whether a value can be an id: text that every storage keeps apart from every other. */
export function isId(value: unknown): value is string {
  return (
    typeof value === "string" && value.length > 0 && value.length <= MAX_ID && value.isWellFormed()
  );
}

export { isObject };

export const id = z.custom<string>(isId, {
  error: `must be a non-empty string of at most ${MAX_ID} characters`,
  params: { limit: MAX_ID },
});

/** A name that appears in principals and index rows: an id without control characters. */
export const name = z.custom<string>(isName, {
  error: `must be a non-empty string of at most ${MAX_ID} characters, without control characters`,
  params: { limit: MAX_ID },
});

/** What somebody chooses to be called: a name that shows. */
export const personName = z.custom<string>((value) => isName(value) && value.trim() !== "", {
  error: `must be a name of at most ${MAX_ID} characters, not blank, without control characters`,
  params: { limit: MAX_ID },
});

function isName(value: unknown): value is string {
  return isId(value) && !/\p{Cc}/u.test(value);
}

export const text = z.string({ error: "must be a string" });
export const flag = z.boolean({ error: "must be true or false" });
export const count = z.int({ error: "must be a whole number" }).min(1, "must be at least 1");

/** How long a session lives without an act, in milliseconds: a second at least, a hundred years at most. */
export const ttlMs = z
  .int({ error: "must be a whole number of milliseconds" })
  .min(1_000, "must be at least 1000")
  .max(3_155_760_000_000, "must be at most 3155760000000");

/** Passed through untouched, so that a key such as `__proto__` stays an ordinary key. */
export const metadata = z.custom<Metadata>(isObject, { error: "must be an object" });

/** Any JSON, but present. */
export const json = z.custom<Json>((value) => value !== undefined, { error: "is missing" });

const jsonSchema = z.custom<Record<string, unknown>>(isObject, "must be a JSON Schema");

export const tool = z.object(
  {
    name,
    description: text.optional(),
    parameters: jsonSchema.optional(),
    result: jsonSchema.optional(),
    executor: z.enum(["client", "agent"], "must be client or agent").optional(),
    approval: z.enum(["never", "always"], "must be never or always").optional(),
    sideEffects: flag.optional(),
    retry: z.enum(["safe", "unsafe"], "must be safe or unsafe").optional(),
    deadlineMs: count.optional(),
    approvalMs: count.optional(),
    escalateMs: count.optional(),
    metadata: metadata.optional(),
  },
  "must be a tool declaration",
);

export const tools = z
  .array(tool, "must be an array of tool declarations")
  .max(512, "must hold at most 512 tools");

const toolRule = z.object(
  {
    tool: name,
    approval: z
      .union([z.enum(["never", "always"]), z.object({ when: jsonSchema })], {
        error: "must be never, always or {when: JSON Schema}",
      })
      .optional(),
    approvers: z.array(text, "must be an array of principals").max(512).optional(),
  },
  "must be {tool, approval?, approvers?}",
);

export const policy = z.object(
  {
    whileActive: z
      .enum(
        ["queue", "concurrent", "refuse", "replace", "steer"],
        "must be queue, concurrent, refuse, replace or steer",
      )
      .optional(),
    whilePending: z
      .enum(["abandon", "queue", "refuse"], "must be abandon, queue or refuse")
      .optional(),
    invalidArguments: z.enum(["answer", "offer"], "must be answer or offer").optional(),
    budget: z.object({ rounds: count, repeats: count }, "must be {rounds, repeats}").optional(),
    tools: z.array(toolRule, "must be an array of tool rules").max(512).optional(),
  },
  "must be an object",
);

const NOT_CONTENT =
  "must be text, or an array of text, image, audio, video and document parts: only a user's message is sent";

export const content = z.union([z.string(), z.array(ContentPartSchema).min(1)], NOT_CONTENT);

export const answer = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("json"), value: json }),
    z.object({ type: z.literal("text"), text }),
    z.object({ type: z.literal("parts"), parts: z.array(json, "must be an array") }),
  ],
  'must be {"type":"json","value"}, {"type":"text","text"} or {"type":"parts","parts"}',
);

export const outcome = z.enum(["ok", "error"], "must be ok or error");
