import {
  createAgUiReader,
  readAgUi,
  restoreAgUi,
  saveAgUi,
  type AgUiReader,
} from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { anyEvent } from "../../../protocol/test/ag-ui/streams.ts";

// Random runs of an agent that keeps to all that the text of AG-UI 1.0 says, and not just to what a verifier sees.

export type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** What an agent says in one run between its start and its end, and how that ends. */
export interface Said {
  readonly events: readonly Event[];
  /** Calls that are left for the client, in order. */
  readonly pending: readonly string[];
  readonly end: End;
}

/** `named`: a success that lists what is pending. */
type End = "success" | "named" | "error" | "interrupt" | "cancelled";

/** The tools that clients execute; the agent executes all others, and answers their calls in the same run. */
export const FRONTEND = ["look"];

const ends = fc.constantFrom<End>("success", "named", "error", "interrupt", "cancelled");
const candidates = fc.array(fc.record({ event: anyEvent, at: fc.nat(99) }), {
  minLength: 5,
  maxLength: 50,
  size: "max",
});
type Candidates = readonly { readonly event: object; readonly at: number }[];

/** The runs of one thread. */
export const lawfulThread: fc.Arbitrary<readonly Said[]> = fc
  .array(fc.record({ candidates, end: ends }), { minLength: 1, maxLength: 3 })
  .map((runs) =>
    runs.map(({ candidates, end }, n) => {
      // After a resume that failed, a stock client resumes again what the session has ended.
      const isResume = runs[n - 1]?.end === "interrupt";
      return runOf(candidates, n, isResume && end === "error" ? "success" : end);
    }),
  );

function runOf(candidates: Candidates, n: number, end: End): Said {
  const agent = new Agent();
  for (const { event, at } of candidates) {
    const named = renamed(event as Event, { n, at, unanswered: agent.unanswered() });
    if (!named || agent.say(named)) continue;
    const { subagentRunId: _, ...rest } = named;
    agent.say({ ...rest, ...aimed(named, agent.open, at) } as Event);
  }
  agent.closeAll();
  const leaves = end === "success" || end === "named";
  for (const toolCallId of agent.unanswered()) {
    const result = { type: "TOOL_CALL_RESULT", messageId: `${n}:r:${toolCallId}`, toolCallId };
    agent.say({ ...result, content: "end" });
  }
  const pending = agent.pending();
  if (pending.length > 0 && !leaves) return { events: [], pending: [], end };
  return { events: agent.events, pending, end };
}

/** Says what is lawful, and nothing else. */
class Agent {
  readonly events: Event[] = [];
  #reader: AgUiReader = createAgUiReader();
  readonly #tools = new Map<string, string>();
  readonly #answered = new Set<string>();
  readonly #messages = new Set<string>();

  constructor() {
    readAgUi(this.#reader, { type: "RUN_STARTED", threadId: "t", runId: "r" });
  }

  get open() {
    return this.#reader.verify.open;
  }

  /** The agent's own calls that have no result. */
  unanswered(): string[] {
    return this.#left((name) => !FRONTEND.includes(name));
  }

  pending(): string[] {
    return this.#left((name) => FRONTEND.includes(name));
  }

  #left(isMeant: (name: string) => boolean): string[] {
    return [...this.#tools].flatMap(([id, name]) => {
      return isMeant(name) && !this.#answered.has(id) ? [id] : [];
    });
  }

  /** @returns whether it was lawful */
  say(event: Event): boolean {
    if (this.#goesOnWithChunks(event)) return false;
    const before = saveAgUi(this.#reader);
    const { violation, events } = readAgUi(this.#reader, event);
    const read = events as unknown as readonly Event[];
    if (violation || !read.every((it) => this.#isLawful(it))) {
      this.#reader = restoreAgUi(before);
      return false;
    }
    for (const it of read) this.#note(it);
    this.events.push(event);
    return true;
  }

  /** What chunks began is theirs, and no explicit event's. */
  #goesOnWithChunks(event: Event): boolean {
    if (event.type.endsWith("_CHUNK")) return false;
    const id = event["messageId"] ?? event["toolCallId"];
    return [...this.#reader.expand.lanes.values()].some((lane) => lane.id === id);
  }

  /** What the text says beyond what a verifier sees, and what a session has another way for (SPEC 12.5.4, 12.5.5). */
  #isLawful(event: Event): boolean {
    const { type, toolCallId = "", toolCallName, messageId = "" } = event as Texts;
    switch (type) {
      case "TOOL_CALL_START": {
        const known = this.#tools.get(toolCallId);
        const goesOn = known === toolCallName && !this.#answered.has(toolCallId);
        return known === undefined || goesOn;
      }
      case "TEXT_MESSAGE_START":
      case "REASONING_MESSAGE_START":
        return !(this.#answered.size > 0 && this.#messages.has(messageId));
      case "TOOL_CALL_RESULT": {
        const isTheirs = this.unanswered().includes(toolCallId);
        return isTheirs && !this.open.calls.has(toolCallId);
      }
      default:
        return true;
    }
  }

  #note(event: Event): void {
    const { type, toolCallId = "", toolCallName = "", messageId = "" } = event as Texts;
    const { parentMessageId: parent } = event as Texts;
    if (type === "TOOL_CALL_START") {
      this.#tools.set(toolCallId, toolCallName);
      if (parent !== undefined) this.#messages.add(parent);
    } else if (type === "TOOL_CALL_RESULT") this.#answered.add(toolCallId);
    else if (type.endsWith("MESSAGE_START")) this.#messages.add(messageId);
  }

  closeAll(): void {
    for (const owner of Array.from(this.#reader.expand.lanes.keys())) {
      this.say({ type: "CUSTOM", name: "end", value: 1, ...tagged(owner) });
    }
    const { texts, calls, reasonings, spans, steps, subagents } = this.open;
    const ends: Event[] = [
      ...Array.from(texts, (messageId) => ({ type: "TEXT_MESSAGE_END", messageId })),
      ...Array.from(calls, (toolCallId) => ({ type: "TOOL_CALL_END", toolCallId })),
      ...Array.from(reasonings, (messageId) => ({ type: "REASONING_MESSAGE_END", messageId })),
      ...Array.from(spans, (messageId) => ({ type: "REASONING_END", messageId })),
      ...Array.from(steps, ([owner, names]) =>
        Array.from(names, (stepName) => ({ type: "STEP_FINISHED", stepName, ...tagged(owner) })),
      ).flat(),
      ...Array.from(subagents, (subagentRunId) => ({ type: "SUBAGENT_FINISHED", subagentRunId })),
    ];
    for (const end of ends) this.say(end);
  }
}

type Texts = { readonly type: string } & Readonly<Record<string, string | undefined>>;

function tagged(owner: string | undefined) {
  return owner === undefined ? {} : { subagentRunId: owner };
}

interface Naming {
  /** Which run of the thread. */
  readonly n: number;
  readonly at: number;
  readonly unanswered: readonly string[];
}

/** A random event under ids that name nothing else in the thread; undefined for what no agent says here. */
function renamed(given: Event, { n, at, unanswered }: Naming): Event | undefined {
  // A session gives what is empty an id of its own (SPEC 12.5.4).
  const event = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      /(Id|Name)$/.test(key) && value === "" ? "e" : value,
    ]),
  ) as Event;
  const { type, subagentRunId: tag } = event;
  const id = (kind: string, value: unknown) => {
    return typeof value === "string" ? `${n}:${kind}:${value}` : undefined;
  };
  const put = (more: Record<string, unknown>) => {
    const all = Object.entries({ ...event, ...more });
    return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as Event;
  };
  // Messages have one owner each, so that a call agrees with its parent.
  const text = typeof tag === "string" ? `t(${tag})` : "t";
  switch (type) {
    case "TOOL_CALL_RESULT": {
      const toolCallId = unanswered[at % (unanswered.length || 1)] ?? "none";
      return put({ toolCallId, messageId: `${n}:r:${toolCallId}` });
    }
    case "REASONING_ENCRYPTED_VALUE": {
      const kind = event["subtype"] === "tool-call" ? "c" : (["t", "g"][at % 2] ?? "t");
      return put({ entityId: id(kind, event["entityId"]) });
    }
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_CHUNK":
      return put({
        messageId: id(text, event["messageId"]),
        delta: at % 3 ? event["delta"] : "é🙂",
      });
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_CHUNK":
      return put({
        toolCallId: id("c", event["toolCallId"]),
        parentMessageId: id(text, event["parentMessageId"]),
        // With arguments that are no JSON, a client's call is never the client's.
        delta: event["delta"] === undefined ? undefined : " ",
      });
    case "ACTIVITY_DELTA": {
      // One that leaves no object has no place in a message, though a client takes it.
      const patch = event["patch"] as readonly { readonly path?: unknown }[];
      if (patch.some(({ path }) => path === "")) return undefined;
      return put({ messageId: id("a", event["messageId"]) });
    }
    case "MESSAGES_SNAPSHOT":
      return undefined;
    default:
      if (/^(?:RUN|THINKING)_/.test(type)) return undefined;
      if (type.startsWith("TEXT")) return put({ messageId: id(text, event["messageId"]) });
      if (type.startsWith("REASONING")) return put({ messageId: id("g", event["messageId"]) });
      if (type.startsWith("ACTIVITY")) return put({ messageId: id("a", event["messageId"]) });
      return event;
  }
}

/** What makes an event be about something open, where it was about nothing. */
function aimed({ type }: Event, open: AgUiReader["verify"]["open"], at: number): object {
  const pick = (all: Iterable<string>) => {
    const list = [...all];
    return list[at % (list.length || 1)] ?? "none";
  };
  switch (type) {
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
      return { messageId: pick(open.texts) };
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return { toolCallId: pick(open.calls) };
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
      return { messageId: pick(open.reasonings) };
    case "REASONING_END":
      return { messageId: pick(open.spans) };
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return { subagentRunId: pick(open.subagents) };
    default:
      return {};
  }
}
