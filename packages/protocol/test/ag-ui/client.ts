import { AbstractAgent, type RunAgentInput } from "@ag-ui/client";
import { AbstractAgent as OldAgent } from "ag-ui-client-0";
import type { AgUiEvent, AgUiMessage, Peer } from "@holdfast/protocol/ag-ui";
import { from, type Observable } from "rxjs";

/** What a stock client holds. */
export interface Seen {
  readonly messages: AgUiMessage[];
  readonly state: unknown;
  readonly interrupts: readonly unknown[];
}

interface Held {
  /** Default `1.0`. */
  readonly peer?: Peer;
  /** What it holds before. */
  readonly messages?: readonly AgUiMessage[];
  readonly state?: unknown;
}

/**
 * What the published client holds after events that it got in one response; throws where its verifier refuses one. Before
 * 1.0 that is `@ag-ui/client` 0.0.59.
 */
export async function follow(
  events: readonly AgUiEvent[],
  { peer = "1.0", messages = [], state = {} }: Held = {},
): Promise<Seen> {
  const wire = JSON.parse(JSON.stringify(events)) as never[];
  const initialMessages = copy(messages) as never[];
  const config = { threadId: "s1", initialMessages, initialState: state };
  if (peer === "0") {
    class Recorded extends OldAgent {
      run(): never {
        // The libraries' types of events differ between versions; their events do not, as far as this tests.
        return from(wire) as never;
      }
    }
    const agent = new Recorded(config);
    await agent.runAgent({ runId: "r" });
    return seenBy(agent);
  }
  class Recorded extends AbstractAgent {
    run(_: RunAgentInput): Observable<never> {
      return from(wire);
    }
  }
  const agent = new Recorded(config);
  await agent.runAgent({ runId: "r" });
  return seenBy(agent);
}

function seenBy(agent: {
  messages: unknown[];
  state: unknown;
  pendingInterrupts?: readonly unknown[];
}): Seen {
  const { messages, state, pendingInterrupts = [] } = agent;
  return copy({ messages: messages as AgUiMessage[], state, interrupts: pendingInterrupts });
}

/** As it is after it was sent: without what is undefined. */
export function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
