import type { Call } from "../call.ts";
import type { AgentItem, CallAnswerCommand, Command } from "../command.ts";
import type { EventOf } from "../events.ts";
import type { Scope } from "../entry.ts";
import { bytesBeyond } from "../json-size.ts";
import type { Metadata } from "../json.ts";
import { mergeMetadata } from "../metadata.ts";
import { settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { APPLIED, refuse, type Ruling } from "./ruling.ts";

/** How much the log takes of one thing (SPEC 6.19). */
export interface ContentLimits {
  /** An event, or a command that is no append and no answer, in bytes of JSON. */
  readonly eventBytes: number;
  /** A call's arguments, in characters. */
  readonly argumentsLength: number;
  /** The text of a message, in characters. */
  readonly textLength: number;
  /** An answer with its metadata, in bytes of JSON. */
  readonly resultBytes: number;
}

/**
 * Refuses what is larger than an event may be. Answers and arguments are not looked at: they settle their call instead,
 * which would wait for them for ever. An append is looked at item by item.
 */
export function refuseLarge(said: Command | AgentItem, { limits }: Env): Ruling | undefined {
  if (!limits || isSmallDelta(said, limits) || hasLimitOfItsOwn(said)) return undefined;
  const limit = limits.eventBytes;
  const value = bytesBeyond(said, limit);
  if (value === undefined) return undefined;
  return refuse("too_large", `${said.type} has ${value} bytes, and may have ${limit}: send less.`, {
    limit,
    value,
  });
}

/** Most of what an agent appends, told without writing it as JSON. */
function isSmallDelta(said: Command | AgentItem, limits: ContentLimits): boolean {
  return (
    "delta" in said &&
    typeof said.delta === "string" &&
    said.delta.length <= mostSmall(limits) &&
    Object.keys(said).length === 3
  );
}

/** The longest a plain delta may be to be small whatever its characters, which take six bytes at most. */
export function mostSmall({ eventBytes }: Pick<ContentLimits, "eventBytes">): number {
  return Math.floor((eventBytes - 1024) / 6);
}

function hasLimitOfItsOwn({ type }: Command | AgentItem): boolean {
  return (
    type === "run.append" ||
    type === "call.answer" ||
    type === "TOOL_CALL_ARGS" ||
    type === "call.replace_arguments"
  );
}

/** Refuses what would make a message's text longer than it may be; what was said of it stands. */
export function refuseLongText(text: string, more: string, { limits }: Env): Ruling | undefined {
  const limit = limits?.textLength ?? Infinity;
  const value = text.length + more.length;
  if (value <= limit) return undefined;
  const message = `The message would have ${value} characters, and may have ${limit}: end it, and go on in another.`;
  return refuse("too_large", message, { limit, value });
}

/** Refuses what would make the metadata of a row, bit by bit, larger than an event may be. */
export function refuseMuchMetadata(
  { metadata }: { readonly metadata?: Metadata } = {},
  more: Metadata | undefined,
  { limits }: Env,
): Ruling | undefined {
  // Alone it is no larger than the event it came with.
  if (!limits || metadata === undefined || more === undefined) return undefined;
  const limit = limits.eventBytes;
  const value = bytesBeyond(mergeMetadata(metadata, more), limit);
  if (value === undefined) return undefined;
  const message = `The metadata would have ${value} bytes, and may have ${limit}: say less.`;
  return refuse("too_large", message, { limit, value });
}

/** Settles a call whose arguments grow beyond what they may have, or undefined where they do not. Its run goes on. */
export function settleLongArguments(
  draft: Draft,
  env: Env,
  call: Call,
  more: EventOf<"TOOL_CALL_ARGS"> | string,
  scope: Scope,
): Ruling | undefined {
  const { limits } = env;
  if (!limits) return undefined;
  const length = typeof more === "string" ? more.length : call.arguments.length + more.delta.length;
  const isLong =
    length > limits.argumentsLength ||
    (typeof more !== "string" &&
      !isSmallDelta(more, limits) &&
      bytesBeyond(more, limits.eventBytes) !== undefined);
  if (!isLong) return undefined;
  const message = `The arguments have more than ${limits.argumentsLength} characters.`;
  const end = { outcome: "error", reason: "arguments_too_large", message } as const;
  settleCall(draft, env, call, end, scope);
  return APPLIED;
}

/** How much of a large answer is kept, in characters. */
const PREVIEW = 2_000;

/** What is kept of an answer that is too large, and how large it was. */
export interface CutAnswer {
  readonly kept: Pick<CallAnswerCommand, "answer"> & { readonly outcome: "error" };
  readonly limit: number;
  readonly value: number;
}

/**
 * What stands for an answer that is larger than it may be: an error that says so and how the answer begins. Undefined for
 * any other. Its metadata is not kept, since codecs keep an answer there a second time.
 */
export function cutAnswer(command: CallAnswerCommand, { limits }: Env): CutAnswer | undefined {
  if (!limits) return undefined;
  const limit = limits.resultBytes;
  const { answer, metadata } = command;
  const value = bytesBeyond(metadata ? { answer, metadata } : answer, limit);
  if (value === undefined) return undefined;
  const whole = textOf(answer);
  const beginning = whole.slice(0, Math.min(PREVIEW, limit)).toWellFormed();
  const text = `The result is too large to keep: it has ${value} bytes, and may have ${limit}. It begins: ${beginning}`;
  return { kept: { outcome: "error", answer: { type: "text", text } }, limit, value };
}

function textOf(answer: CallAnswerCommand["answer"]): string {
  switch (answer.type) {
    case "text":
      return answer.text;
    case "json":
      return JSON.stringify(answer.value);
    case "parts":
      return JSON.stringify(answer.parts);
  }
}
