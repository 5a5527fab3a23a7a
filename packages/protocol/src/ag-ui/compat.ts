import { isObject } from "../json.ts";
import { omit } from "../omit.ts";
import type { AgUiWarning } from "./rules.ts";

/** What events of before 1.0 leave unsaid: which reasoning they continue. Its owner's to change. */
export interface CompatState {
  spanId: string | undefined;
  messageId: string | undefined;
  /** How many ids were made. */
  minted: number;
}

type Raw = Readonly<Record<string, unknown>>;

export function createCompatState(): CompatState {
  return { spanId: undefined, messageId: undefined, minted: 0 };
}

/**
 * An event as 1.0 spells it: whole optional nulls left out, THINKING_* as REASONING_*, binary parts as media parts.
 * The same event where nothing is to translate. Judges nothing. Ids that THINKING_* events lack are made from `runId`.
 */
export function translate(
  state: CompatState,
  raw: Raw,
  runId: string,
  warnings: AgUiWarning[],
): Raw {
  const event = withoutNull(raw, "rawEvent", "", warnings);
  switch (event["type"]) {
    case "THINKING_START":
    case "THINKING_TEXT_MESSAGE_START":
    case "THINKING_TEXT_MESSAGE_CONTENT":
    case "THINKING_TEXT_MESSAGE_END":
    case "THINKING_END":
      return thinking(state, event, runId, warnings);
    case "TOOL_CALL_START":
    case "TOOL_CALL_CHUNK":
      return withoutNull(event, "parentMessageId", "", warnings);
    case "SUBAGENT_FINISHED":
      return withoutNull(event, "result", "", warnings);
    case "RUN_FINISHED":
      return withoutNull(withoutNull(event, "result", "", warnings), "outcome", "", warnings);
    case "MESSAGES_SNAPSHOT":
      return withMessages(event, "", warnings);
    case "RUN_STARTED": {
      const { input } = event;
      if (!isObject(input)) return event;
      const translated = translateInput(input, "/input", warnings);
      return translated === input ? event : { ...event, input: translated };
    }
    default:
      return event;
  }
}

/** The same for a run's input, at `path`. */
export function translateInput(input: Raw, path: string, warnings: AgUiWarning[]): Raw {
  let translated = input;
  // JSON null is a value of the state's, and says as much as none.
  for (const field of ["forwardedProps", "state"]) {
    translated = withoutNull(translated, field, path, warnings);
  }
  translated = mapList(translated, "tools", path, (tool, at) => {
    return isObject(tool) ? withoutNull(tool, "parameters", at, warnings) : tool;
  });
  translated = mapList(translated, "resume", path, (entry, at) => {
    return isObject(entry) ? withoutNull(entry, "payload", at, warnings) : entry;
  });
  return withMessages(translated, path, warnings);
}

const THINKING = {
  THINKING_START: "REASONING_START",
  THINKING_TEXT_MESSAGE_START: "REASONING_MESSAGE_START",
  THINKING_TEXT_MESSAGE_CONTENT: "REASONING_MESSAGE_CONTENT",
  THINKING_TEXT_MESSAGE_END: "REASONING_MESSAGE_END",
  THINKING_END: "REASONING_END",
} as const;

function thinking(state: CompatState, event: Raw, runId: string, warnings: AgUiWarning[]): Raw {
  const from = event["type"] as keyof typeof THINKING;
  const type = THINKING[from];
  warnings.push({ rule: "E5", message: `Read ${from} as ${type}.` });
  const mint = () => {
    state.minted += 1;
    return `thinking:${runId}:${state.minted}`;
  };
  const continued = (id: string | undefined) => {
    if (id !== undefined) return id;
    const message = `${from} continues nothing: no start came before it.`;
    warnings.push({ rule: "E5", message });
    return mint();
  };
  switch (from) {
    case "THINKING_START": {
      state.spanId = mint();
      if (event["title"] !== undefined) {
        const message = "Left out the title of THINKING_START: REASONING_START has none.";
        warnings.push({ rule: "E5", message, path: "/title" });
      }
      return { ...omit(event, "title"), type, messageId: state.spanId };
    }
    case "THINKING_TEXT_MESSAGE_START":
      state.messageId = mint();
      return { ...event, type, messageId: state.messageId, role: "reasoning" };
    case "THINKING_TEXT_MESSAGE_CONTENT":
      return { ...event, type, messageId: continued(state.messageId) };
    case "THINKING_TEXT_MESSAGE_END": {
      const messageId = continued(state.messageId);
      state.messageId = undefined;
      return { ...event, type, messageId };
    }
    case "THINKING_END": {
      const messageId = continued(state.spanId);
      state.spanId = undefined;
      return { ...event, type, messageId };
    }
    default:
      return from satisfies never;
  }
}

function withMessages(holder: Raw, path: string, warnings: AgUiWarning[]): Raw {
  return mapList(holder, "messages", path, (message, at) => {
    if (!isObject(message) || !Array.isArray(message["content"])) return message;
    const { content } = message;
    const parts = content.flatMap((part: unknown, index) => {
      return translatePart(part, content, `${at}/content/${index}`, warnings);
    });
    const same = parts.length === content.length && parts.every((it, n) => it === content[n]);
    return same ? message : { ...message, content: parts };
  });
}

/** A part as 1.0 spells it; none where a modern part beside it says the same. */
function translatePart(
  part: unknown,
  beside: readonly unknown[],
  path: string,
  warnings: AgUiWarning[],
): unknown[] {
  if (!isObject(part)) return [part];
  const { type, mimeType, data, url, filename } = part;
  if (type === "image" || type === "audio" || type === "video" || type === "document") {
    return [withoutNull(part, "metadata", path, warnings)];
  }
  if (type !== "binary" || typeof mimeType !== "string") return [part];
  const [kind = ""] = mimeType.split("/");
  const medium = kind !== mimeType && ["image", "audio", "video"].includes(kind);
  const source = data
    ? { type: "data", value: data, mimeType }
    : url
      ? { type: "url", value: url, mimeType }
      : undefined;
  // One that is only an id has no successor: it is removed as any other unknown part, and that is said.
  if (!source) return [part];
  const modern = { type: medium ? kind : "document", source };
  warnings.push({ rule: "E5", message: `Read a binary part as ${modern.type}.`, path });
  if (beside.some((other) => saysTheSame(other, modern, filename))) return [];
  return [filename ? { ...modern, metadata: { filename } } : modern];
}

function saysTheSame(
  other: unknown,
  { type, source }: { readonly type: string; readonly source: Raw },
  filename: unknown,
): boolean {
  if (!isObject(other) || other["type"] !== type) return false;
  const { source: its, metadata } = other;
  return (
    isObject(its) &&
    its["type"] === source["type"] &&
    its["value"] === source["value"] &&
    its["mimeType"] === source["mimeType"] &&
    (!filename || (isObject(metadata) && metadata["filename"] === filename))
  );
}

function mapList(
  holder: Raw,
  field: string,
  path: string,
  map: (element: unknown, path: string) => unknown,
): Raw {
  const list = holder[field];
  if (!Array.isArray(list)) return holder;
  const mapped = list.map((element: unknown, at) => map(element, `${path}/${field}/${at}`));
  return mapped.some((element, at) => element !== list[at])
    ? { ...holder, [field]: mapped }
    : holder;
}

function withoutNull(value: Raw, field: string, path: string, warnings: AgUiWarning[]): Raw {
  if (value[field] !== null) return value;
  const at = `${path}/${field}`;
  warnings.push({ rule: "E5", message: `Read null at ${at} as left out.`, path: at });
  return omit(value, field);
}
