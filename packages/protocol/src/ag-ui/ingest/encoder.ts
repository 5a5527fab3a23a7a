import type { Encoder } from "../../codec.ts";
import type { AgentItem } from "../../command.ts";
import type { RunFailure } from "../../events.ts";
import { canonical } from "../../canonical.ts";
import { isObject } from "../../json.ts";
import { AG_UI } from "../interrupt.ts";
import { createAgUiReader, endAgUi, readAgUi } from "../reader.ts";
import { violates, type AgUiViolation, type AgUiWarning } from "../rules.ts";
import { isAgUiType, type AgUiEvent, type AgUiEventOf, type AgUiMessage } from "../vocabulary.ts";
import { createCallIngest } from "./calls.ts";
import type { IngestContext } from "./context.ts";
import { createDiagnostics, type AgUiDiagnostic } from "./diagnostics.ts";
import { createIngestIds } from "./ids.ts";
import { interruptItems } from "./interrupts.ts";
import { createMessageIngest } from "./messages.ts";
import { clip, clipFailure, createRecord } from "./record.ts";
import { createRounds } from "./rounds.ts";
import { streamName, type AgUiScope } from "./scope.ts";
import { snapshotItems, type SnapshotContext } from "./snapshot.ts";
import { createUsable, isBeside } from "./usable.ts";

/** How the run that was asked for ended, as its agent says. */
export type AgUiOutcome = "success" | "interrupt" | "cancelled" | "error";

/** Takes AG-UI events as they come. */
export interface AgUiEncoder extends Encoder<unknown> {
  /** Undefined while the run goes on, and for one that broke off. */
  readonly outcome: AgUiOutcome | undefined;
  /** The rule that the stream broke: nothing of it is taken from there on. */
  readonly violation: AgUiViolation | undefined;
  /**
   * Why the run fails if the stream ends now: what its agent says, the rule it broke, or that the run did not end. A run
   * that was stopped on purpose is `cancelled`, to whoever knows no better.
   */
  readonly failure: RunFailure | undefined;
}

/**
 * Turns the AG-UI events of one run into what an attempt appends (SPEC 12.5). Holds them against the protocol first: from
 * the first that breaks a rule, nothing is taken. Everything else ends up in the log: content as it is, results as answers,
 * interrupts as approvals and calls, what AG-UI does not describe as RAW events, and how the run ended in its metadata.
 */
export function createAgUiEncoder(scope: AgUiScope): AgUiEncoder {
  const { input, strict = false } = scope;
  const frontend = input ? input.tools.map(({ name }) => name) : scope.clientTools;
  const reader = createAgUiReader({
    ...(input && { threadId: input.threadId, runId: input.runId }),
    ...(frontend && { frontendTools: frontend }),
    strict,
  });
  const record = createRecord(streamName(scope));
  const diagnostics = createDiagnostics();
  const given = new Given(scope);
  let failure: RunFailure | undefined;
  let violation: AgUiViolation | undefined;
  let outcome: AgUiOutcome | undefined;
  /** Another run than the one that was asked for: what it says is history, or nobody's business. */
  let isOther = false;
  let index = 0;

  const ids = createIngestIds(scope, (id) => given.messages.has(id));
  const rounds = createRounds(scope.steers);
  const { isCall: isGivenCall, isMessage: isGivenMessage } = given;
  const isHistoryKnown = () => given.isKnown;
  const history = () => given.list;
  const base: IngestContext = { scope, ids, rounds, note, isGivenCall, isHistoryKnown, history };
  const usable = createUsable(scope, (id) => {
    const message = `The id '${id}' cannot be used: what it names has another.`;
    diagnostics.note({ rule: "D12", message, index, id });
  });
  const messages = createMessageIngest(base);
  const calls = createCallIngest(base);
  const renamed = new Map<string, string>();
  let toldNames = canonical({});
  const rename = (id: string, to: string) => {
    if (renamed.size < MOST_RENAMED || renamed.has(id)) renamed.set(id, to);
  };
  const context: SnapshotContext = {
    ...base,
    messages,
    calls,
    take,
    isGivenMessage,
    rename,
  };

  function note(rule: AgUiDiagnostic["rule"], message: string, id?: string): void {
    diagnostics.note({ rule, message, index, ...(id !== undefined && { id }) });
    if (strict && rule === "D12") violation ??= { ...violates("D12", message), index };
  }

  function take(event: AgUiEvent): AgentItem[] {
    const items = takeOne(event);
    rounds.keep(items);
    return items;
  }

  function takeOne(event: AgUiEvent): AgentItem[] {
    switch (event.type) {
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT":
        return messages.content(event);
      case "TOOL_CALL_ARGS":
        return calls.arguments(event);
      case "TEXT_MESSAGE_START":
      case "REASONING_MESSAGE_START":
        return messages.start(event);
      case "TEXT_MESSAGE_END":
      case "REASONING_MESSAGE_END":
        return messages.end(event);
      case "REASONING_START":
        return [...rounds.before(), event];
      case "TOOL_CALL_START":
        return calls.start(event);
      case "TOOL_CALL_END":
        return calls.end(event);
      case "TOOL_CALL_RESULT":
        return calls.result(event);
      case "REASONING_ENCRYPTED_VALUE":
        return [
          {
            ...event,
            entityId:
              event.subtype === "message" ? ids.of(event.entityId) : ids.call(event.entityId),
          },
        ];
      case "SUBAGENT_STARTED": {
        const { parentMessageId: parent, parentToolCallId: call } = event;
        return [
          {
            ...event,
            ...(parent !== undefined && { parentMessageId: ids.of(parent) }),
            ...(call !== undefined && { parentToolCallId: ids.call(call) }),
          },
        ];
      }
      case "REASONING_END":
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
      case "ACTIVITY_SNAPSHOT":
      case "ACTIVITY_DELTA":
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
      case "STEP_STARTED":
      case "STEP_FINISHED":
      case "CUSTOM":
      case "RAW":
        return [event];
      case "MESSAGES_SNAPSHOT":
      case "RUN_STARTED":
      case "RUN_FINISHED":
      case "RUN_ERROR":
      case "TEXT_MESSAGE_CHUNK":
      case "TOOL_CALL_CHUNK":
      case "REASONING_MESSAGE_CHUNK":
        return []; // these do not come here
      default:
        return event satisfies never;
    }
  }

  function takeRun(event: AgUiEvent): AgentItem[] {
    if (event.type === "RUN_STARTED") return started(event);
    if (isOther) return [];
    switch (event.type) {
      case "RUN_FINISHED":
        return finished(event);
      case "RUN_ERROR":
        return failed(event);
      case "MESSAGES_SNAPSHOT":
        return snapshot(event);
      default:
        return take(event);
    }
  }

  function snapshot(event: AgUiEventOf<"MESSAGES_SNAPSHOT">): AgentItem[] {
    const items = snapshotItems(event, context);
    const names = Object.fromEntries(renamed);
    const told = canonical(names);
    if (told === toldNames) return items;
    toldNames = told;
    return [...items, ...record.note({}, { renamed: names })];
  }

  function started(event: AgUiEventOf<"RUN_STARTED">): AgentItem[] {
    // What fails is over, whatever its agent goes on to say.
    const isAsked = input === undefined || (event.runId === input.runId && outcome === undefined);
    isOther = !isAsked || failure !== undefined;
    if (isOther) {
      const words = `The run '${event.runId}' is not the one that was asked for: it was left out.`;
      note("other_run", words, event.runId);
      return [];
    }
    // Where none was asked for, all are: the last one's end counts.
    outcome = undefined;
    given.echoed(event.input?.messages);
    const { type: _, threadId: __, input: ___, runId, ...said } = event;
    return [...record.note({ runId }, said), ...rounds.open()];
  }

  function finished(event: AgUiEventOf<"RUN_FINISHED">): AgentItem[] {
    const { type: _, threadId: __, runId: ___, outcome: said, ...rest } = event;
    outcome = said?.type ?? "success";
    const interrupts = said?.type === "interrupt" ? said.interrupts : undefined;
    const asked = interrupts ? interruptItems(interrupts, calls, ids) : [];
    const named = { ...(interrupts && { interrupts: interrupts.map(({ id }) => id) }) };
    return [
      ...asked,
      ...rounds.close(),
      ...record.note({ outcome, ...named }, { ...rest, ...diagnostics.record() }),
    ];
  }

  function failed(event: AgUiEventOf<"RUN_ERROR">): AgentItem[] {
    const { type: _, message, code, ...rest } = event;
    outcome = "error";
    failure ??= clipFailure({ code: code ?? "agent_error", message });
    const error = clipFailure({ message, ...(code !== undefined && { code }) });
    return [
      ...calls.abandon(),
      ...record.note({ outcome, error }, { ...rest, ...diagnostics.record() }),
    ];
  }

  function broken(broke: AgUiViolation, type: string): AgentItem[] {
    violation = { ...broke, message: clip(broke.message) };
    failure ??= failureOf(violation, type);
    return [...calls.abandon(), ...record.note({ violation }, diagnostics.record())];
  }

  return {
    encode(raw) {
      if (violation) return [];
      index = reader.events;
      const read = readAgUi(reader, raw);
      for (const warning of read.warnings) {
        if (warning.rule !== "D11" || !given.has(warning.id))
          diagnostics.note({ ...warning, index });
      }
      const items = read.events.flatMap(takeRun);
      if (!isOther && read.warnings.length > 0) keepUnknown(items, raw, read.warnings);
      const broke = violation ?? read.violation;
      if (broke) items.push(...broken(broke, typeIn(raw)));
      return items.map(usable);
    },
    get outcome() {
      return violation ? undefined : outcome;
    },
    get violation() {
      return violation;
    },
    get failure() {
      if (failure) return failure;
      if (outcome === "cancelled") {
        return { code: "cancelled", message: "The agent says that it was stopped on purpose." };
      }
      // What follows its end is nobody's business, cut off or not.
      if (outcome !== undefined) return undefined;
      const { rule, message } = endAgUi(reader) ?? violates("D1", UNASKED);
      const code = rule === "D1" ? "agent_lost" : "protocol_violation";
      return clipFailure({ code, message });
    },
  };
}

const UNASKED = "The stream ended without the run that was asked for.";

/** How many messages one stream may call otherwise than before. */
const MOST_RENAMED = 1_000;

/** What was there before the stream: what its input holds, or else what its agent or the session says. */
class Given {
  readonly messages = new Set<string>();
  /** In order. */
  readonly list: AgUiMessage[] = [];
  readonly #calls = new Set<string>();
  readonly #scope: AgUiScope;
  isKnown = false;

  constructor(scope: AgUiScope) {
    this.#scope = scope;
    if (scope.input) this.#add(scope.input.messages);
  }

  /** The input that the run echoes, where nobody else told. */
  echoed(messages: Messages | undefined): void {
    if (!this.#scope.input && messages) this.#add(messages);
  }

  readonly isMessage = (id: string): boolean =>
    this.messages.has(id) || this.#isUsed(id, "message");

  readonly isCall = (id: string): boolean =>
    this.#calls.has(id) || (this.#scope.approved?.has(id) ?? false) || this.#isUsed(id, "call");

  /** Whether the session has anything of that id: it may be something that no input tells. */
  has(id = ""): boolean {
    if (this.isMessage(id) || this.isCall(id)) return true;
    const { isUsed } = this.#scope;
    return isUsed !== undefined && (isUsed(id, "message") || isUsed(id, "call"));
  }

  #isUsed(id: string, what: "message" | "call"): boolean {
    return !this.isKnown && (this.#scope.isUsed?.(id, what) ?? false);
  }

  #add(messages: Messages): void {
    this.isKnown = true;
    for (const message of messages) {
      this.messages.add(message.id);
      this.list.push(message);
      if (message.role !== "assistant") continue;
      for (const { id } of message.toolCalls ?? []) this.#calls.add(id);
    }
  }
}

type Messages = NonNullable<AgUiScope["input"]>["messages"];

/**
 * Adds what AG-UI does not describe: a property beside the event's own where it goes to the log, everything else as the
 * event that came, whole.
 */
function keepUnknown(items: AgentItem[], raw: unknown, warnings: readonly AgUiWarning[]): void {
  if (!isObject(raw)) return;
  const unknown = warnings.filter(({ rule }) => rule === "E2" || rule === "E3" || rule === "E4");
  if (unknown.length === 0) return;
  const keys = unknown.map(({ rule, path = "" }) => {
    const isOwn = rule === "E3" && /^\/[^/~]+$/.test(path) && isBeside(path.slice(1));
    return isOwn ? path.slice(1) : undefined;
  });
  const last = items.at(-1);
  if (last && isAgUiType(last.type) && keys.every((key) => key !== undefined)) {
    const beside = Object.fromEntries(keys.map((key) => [key, raw[key]]));
    items[items.length - 1] = { ...beside, ...last };
    return;
  }
  items.push({ type: "RAW", source: AG_UI, event: raw });
}

function failureOf({ rule, message, fix, index }: AgUiViolation, type: string): RunFailure {
  const where = index === undefined ? "The stream" : `Event ${index} (${type})`;
  return { code: "protocol_violation", message: `${where} breaks rule ${rule}: ${message} ${fix}` };
}

function typeIn(raw: unknown): string {
  const type = isObject(raw) ? raw["type"] : undefined;
  return typeof type === "string" ? type.slice(0, 64) : "no type";
}
