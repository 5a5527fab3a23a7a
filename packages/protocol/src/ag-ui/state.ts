/** Whose something is: a subagent's invocation, or, without one, the parent agent's. */
export type Owner = string | undefined;

/** What a stream is known to have opened, closed and named so far. Its owner's to change, in place. */
export interface VerifyState {
  readonly options: VerifyOptions;
  /** `early`: something came, but no run began. */
  phase: "empty" | "early" | "running" | "finished" | "failed";
  /** How many runs began. */
  runs: number;
  /** The run that began last. */
  run: { readonly threadId: string; readonly runId: string } | undefined;
  readonly runIds: Set<string>;
  readonly open: {
    readonly texts: Set<string>;
    readonly reasonings: Set<string>;
    readonly spans: Set<string>;
    readonly calls: Set<string>;
    /** Names, by who runs them. */
    readonly steps: Map<Owner, Set<string>>;
    readonly subagents: Set<string>;
  };
  /** Subagents that ended in this run. */
  readonly ended: Set<string>;
  /** Who opened what in this run, by kind: ids of different kinds have nothing to do with each other. */
  readonly owners: {
    readonly message: Map<string, Owner>;
    readonly call: Map<string, Owner>;
    readonly activity: Map<string, Owner>;
    readonly reasoning: Map<string, Owner>;
  };
  /** Ids of messages in the order they came, over all runs: which run named one last, and what it was. */
  readonly messages: Map<string, { readonly kind: MessageKind; readonly run: number }>;
  /** Calls over all runs, in the order they were made. */
  readonly calls: Map<string, KnownCall>;
  /** Ids that a TOOL_CALL_RESULT of this run had before any call did. */
  readonly early: Set<string>;
  /** Names of the tools that the application executes, where they are known. */
  frontend: Set<string> | undefined;
  /** Ids of the interrupts that the thread waits on; none are known before a run finished. */
  interrupts: Set<string> | undefined;
}

export type MessageKind = "text" | "tool" | "reasoning" | "activity";

export interface KnownCall {
  readonly name: string;
  readonly parent: string | undefined;
  /** The run whose stream started it last, from 1; 0: none did. */
  started: number;
  /** The run whose snapshot named it last; 0: none did. */
  restated: number;
  /** By a TOOL_CALL_RESULT since it was started, or by a tool message of a snapshot or of the history. */
  answered: "no" | "result" | "message";
}

/** What is known from outside the stream. Plain JSON. */
export interface VerifyOptions {
  /** The input's: every run of the stream belongs to it. */
  readonly threadId?: string;
  /** The input's: the last run of the stream is this one. */
  readonly runId?: string;
  /**
   * Names of the tools that the input advertised, which the producer must leave to the application. Without them,
   * those that RUN_STARTED echoes.
   */
  readonly frontendTools?: readonly string[];
  /** Whether an id that was used before (D12) is a violation; otherwise it is a warning. */
  readonly strict?: boolean;
}

export function createVerifyState(options: VerifyOptions = {}): VerifyState {
  return {
    options,
    phase: "empty",
    runs: 0,
    run: undefined,
    runIds: new Set(),
    open: {
      texts: new Set(),
      reasonings: new Set(),
      spans: new Set(),
      calls: new Set(),
      steps: new Map(),
      subagents: new Set(),
    },
    ended: new Set(),
    owners: { message: new Map(), call: new Map(), activity: new Map(), reasoning: new Map() },
    messages: new Map(),
    calls: new Map(),
    early: new Set(),
    frontend: options.frontendTools && new Set(options.frontendTools),
    interrupts: undefined,
  };
}
