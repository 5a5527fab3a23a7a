import { z } from "zod";
import { openLab, textOf, type Lab } from "../../packages/sdk/test/support/lab.ts";
import { startAgent } from "../support/told-agent.ts";
import type { Setup } from "./messages.ts";
import { startRuntime } from "./runtimes.ts";

let threads = 0;

/** A thread that nobody spoke of before. */
export const thread = () => `thread-${(threads += 1)}`;

/** A tool of the page's: one that its code answers, or a person. */
export const page = (handler: () => Promise<unknown>, type: "frontend" | "human-in-the-loop") => ({
  name: type === "frontend" ? "page" : "confirm",
  description: "Asks the page.",
  type,
  parameters: z.object({}),
  handler,
});

/** Holdfast, an agent of its own, and how a runtime reaches them. */
export async function openStage(options: Parameters<typeof openLab>[0] = {}) {
  const lab = await openLab(options);
  const demo = await lab.mint("agent:demo");
  const agentTokens = { demo, built: await lab.mint("agent:built") };
  const agent = startAgent({ url: lab.url, token: demo });
  const token = await lab.mint("user:ana");
  return {
    lab,
    agent,
    start: (mode: Setup["mode"], more: Pick<Setup, "name" | "mount"> = {}) =>
      startRuntime({ mode, server: lab.url, token, agentTokens, ...more }),
    async [Symbol.asyncDispose]() {
      await agent.stop({ graceMs: 0 });
      await lab[Symbol.asyncDispose]();
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** What the session holds of its runs, once all of them have ended. */
export function held(lab: Lab, session: string) {
  return lab.until(session, (state) => {
    const runs = [...state.runs.values()];
    if (runs.length === 0 || runs.some(({ status }) => status !== "ended")) return undefined;
    return {
      runs: runs.map((run) => [run.outcome, textOf(state, run.id)]),
      calls: [...state.calls.values()].map(({ name, outcome, settledBy }) => {
        return { name, outcome, settledBy };
      }),
    };
  });
}
