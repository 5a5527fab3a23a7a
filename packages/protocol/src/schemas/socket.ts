import { z } from "zod";
import { HoldfastError, reject } from "../errors.ts";
import type { ClientFrame, SocketAppend, SocketRef } from "../socket.ts";
import * as f from "./fields.ts";
import { invalid, parse } from "./invalid.ts";

/**
 * Reads one frame of a WebSocket's client from parsed JSON. Unknown fields are dropped. Commands and requests
 * for work are left as they are: whoever takes them checks them.
 *
 * @throws HoldfastError `invalid_request`, naming where
 */
export function parseClientFrame(value: unknown): ClientFrame {
  if (!f.isObject(value)) throw invalid("frame", "must be an object with a type");
  const { type } = value;
  // Hot path.
  if (type === "append") return parseAppendFrame(value);
  const schema = typeof type === "string" ? SCHEMAS.get(type) : undefined;
  if (schema) return parse(schema, value, type as string) as ClientFrame;
  const known = ["append", ...SCHEMAS.keys()].join(", ");
  const what = typeof type === "string" ? JSON.stringify(type.slice(0, 64)) : "without a type";
  throw new HoldfastError(reject("invalid_request", `There is no frame ${what}: send ${known}.`));
}

/** What a frame that cannot be read is answered under, if it says so. */
export function refOf(value: unknown): SocketRef | undefined {
  const ref = f.isObject(value) && Object.hasOwn(value, "ref") ? value["ref"] : undefined;
  return isRef(ref) ? ref : undefined;
}

function parseAppendFrame({ session, command }: Record<string, unknown>): SocketAppend {
  if (typeof session !== "string") throw invalid("append.session", "must be a session's id");
  return { type: "append", session, command };
}

function isRef(value: unknown): value is SocketRef {
  return f.isId(value) || Number.isSafeInteger(value);
}

const ref = z.custom<SocketRef>(
  isRef,
  `must be a whole number, or a string of at most ${f.MAX_ID} characters`,
);
const under = { runId: f.id.optional(), attempt: f.count.optional() };
const any = z.custom<unknown>((value) => value !== undefined, "is missing");

const byType = {
  auth: z.object({ type: z.literal("auth"), token: f.text, ref: ref.optional() }),
  attempt: z.object({ type: z.literal("attempt"), token: f.text, ref: ref.optional() }),
  forget: z.object({
    type: z.literal("forget"),
    session: f.name,
    runId: f.id,
    attempt: f.count,
  }),
  subscribe: z.object({
    type: z.literal("subscribe"),
    session: f.name,
    after: f.text.optional(),
    state: f.flag.optional(),
    ref: ref.optional(),
    ...under,
  }),
  unsubscribe: z.object({
    type: z.literal("unsubscribe"),
    session: f.name,
    ref: ref.optional(),
    ...under,
  }),
  commands: z.object({
    type: z.literal("commands"),
    session: f.name,
    ref,
    commands: any,
    ...under,
  }),
  work: z.object({ type: z.literal("work"), ref, request: any }),
  cancel: z.object({ type: z.literal("cancel"), ref }),
  ping: z.object({ type: z.literal("ping"), ref: ref.optional() }),
} satisfies Record<Exclude<ClientFrame["type"], "append">, z.ZodType>;

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(byType));
