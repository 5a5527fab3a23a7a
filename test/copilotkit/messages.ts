/** What a runtime's process tells its test. */
export type Told =
  | { readonly type: "listening"; readonly url: string }
  /** Its own agent was asked, by a request that brought a header or none. */
  | { readonly type: "asked"; readonly said: string; readonly tenant?: string | undefined }
  /** Its own agent executed a tool. */
  | { readonly type: "executed"; readonly tool: string }
  /** Its own agent was stopped. */
  | { readonly type: "stopped" }
  /** It reached for something that is not this machine's. */
  | { readonly type: "outside"; readonly address: string };

/** What its test tells it: its own agent goes on. */
export interface Go {
  readonly type: "go";
}

/** How a runtime is set up, as JSON in its environment. */
export interface Setup {
  /** Pointed at the server by its URL; with a runner, and the agent elsewhere; with a runner, and the agent its own. */
  readonly mode: "url" | "runner" | "own";
  readonly server: string;
  readonly token: string;
  /** By agent. */
  readonly agentTokens: Readonly<Record<string, string>>;
  /** Named, it has its runs back when it is started again. */
  readonly name?: string;
  /** How it is mounted: with a route for each verb, as by default; with one for all; as before CopilotKit's version 2. */
  readonly mount?: "multi-route" | "single-route" | "v1";
}
