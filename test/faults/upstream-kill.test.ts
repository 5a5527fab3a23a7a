import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import { openStage, PAGE, running, user } from "../../packages/server/test/faces/ag-ui/stage.ts";
import { until } from "../../packages/server/test/support/clock.ts";
import { freePort } from "../support/server-process.ts";

/** An AG-UI agent in a process of its own, which may be killed and started again. */
async function startAgent(port: number) {
  const file = fileURLToPath(new URL("upstream-process.ts", import.meta.url));
  const child = spawn(process.execPath, [file, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const lines: string[] = [];
  const reading = createInterface({ input: child.stdout });
  reading.on("line", (line) => void lines.push(line));
  await until("the agent to listen", () => lines.length > 0);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    asked: () => lines.slice(1).map((line) => JSON.parse(line) as AgUiInput),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

const LOST = { type: "RUN_ERROR", code: "agent_lost" };
const NOT_EXECUTED = expect.stringContaining("Not executed");

/** What its user says to an agent, what of the answer is seen then (and how often), and what becomes of it. */
const CUTS: readonly {
  readonly said: string;
  readonly seen?: string;
  readonly times?: number;
  readonly last?: object;
  readonly texts: readonly string[];
  readonly results?: readonly unknown[];
}[] = [
  { said: "silent", texts: [] },
  { said: "begun", texts: [] },
  { said: "text", seen: "TEXT_MESSAGE_CONTENT", texts: ["One."] },
  { said: "arguments", seen: "TOOL_CALL_ARGS", texts: ["One."], results: [NOT_EXECUTED] },
  {
    said: "called",
    seen: "TOOL_CALL_END",
    texts: ["One."],
    results: [expect.stringContaining("Outcome unknown")],
  },
  { said: "page", seen: "TOOL_CALL_END", texts: ["One."], results: [NOT_EXECUTED] },
  { said: "answered", seen: "TOOL_CALL_RESULT", texts: ["One."], results: ["paid"] },
  {
    said: "resumed",
    seen: "TEXT_MESSAGE_CONTENT",
    times: 2,
    texts: ["One.", "Done."],
    results: ["paid"],
  },
  { said: "finished", seen: "TEXT_MESSAGE_END", last: { type: "RUN_FINISHED" }, texts: ["All."] },
];

test.each(CUTS)(
  "12.5.2 an AG-UI agent that is killed, $said: its client hears of it, and goes on with the next",
  async ({ said, seen, times = 1, last = LOST, texts, results = [] }) => {
    const port = await freePort();
    await using agent = await startAgent(port);
    const url = `http://127.0.0.1:${port}/`;
    await using stage = await openStage({ agents: { demo: { url } } });
    const client = stage.client();
    client.messages = [user("u1", said)];
    const first = running(client, { tools: [PAGE] });
    await until("the agent to be asked", () => agent.asked().length === 1);
    if (seen !== undefined) {
      const count = () => first.types().filter((type) => type === seen).length;
      await until(`${seen} to be seen`, () => count() === times);
    }
    await agent.kill();
    const events = await first.ended;
    expect(events.at(-1)).toMatchObject(last);
    expect(events.filter(({ type }) => type === "RUN_STARTED")).toHaveLength(1);
    const outcome = last === LOST ? "error" : "complete";
    expect((await stage.state()).runs).toMatchObject([{ status: "ended", outcome, attempt: 1 }]);

    await using again = await startAgent(port);
    client.messages.push(user("u2", "Hello?"));
    const second = await running(client, { tools: [PAGE] }).ended;
    expect(second.at(-1)?.type).toBe("RUN_FINISHED");
    const [input, ...more] = again.asked();
    expect(more).toEqual([]);
    const messages = input?.messages ?? [];
    const of = (role: string) => messages.filter((it) => it.role === role);
    expect(of("assistant").flatMap(({ content }) => content ?? [])).toEqual(texts);
    expect(of("tool").map(({ content }) => content)).toEqual(results);
    const calls = messages.flatMap((it) => (it.role === "assistant" ? (it.toolCalls ?? []) : []));
    expect(calls).toHaveLength(results.length);
    // The client holds what the agent is told, and its answer.
    const held = client.messages.map(({ role, content }) => [role, content]);
    const told = messages.map(({ role, content }) => [role, content]);
    expect(held).toEqual([...told, ["assistant", "Here again."]]);
  },
);
