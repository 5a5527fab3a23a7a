import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openStage, PAGE, running } from "../faces/ag-ui/stage.ts";
import { until } from "../support/clock.ts";
import { call, endpoint, result, text, type Asked } from "./endpoint.ts";

const PATH = "/v1/sessions/s1/ag-ui";

/** What a process of its own says at its end. @throws Error with how it ended, where that was badly */
async function clientProcess(url: string, token: string, runs: number): Promise<string> {
  const file = fileURLToPath(new URL("client-process.ts", import.meta.url));
  const child = spawn(process.execPath, [file, url, token, String(runs)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const said = readAll(child.stdout);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code !== 0) throw new Error(`The process ended with ${code ?? signal}.`);
  return said;
}

/** A stock client speaks AG-UI with Holdfast, and Holdfast with the agent: each must find what it is used to. */
describe("12.5 an AG-UI agent behind Holdfast, and a stock client before it", () => {
  it("a server tool and text come through, and the client holds what it would have held without Holdfast", async () => {
    const said = [
      ...text("t1", "Look."),
      ...call("c1", "search", '{"q":1}'),
      result("c1", "found"),
      ...text("t2", "So."),
    ];
    await using agent = await endpoint((asked) => asked.start(...said).finish());
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const through = stage.client();
    through.messages = [{ id: "u1", role: "user", content: "Hi" }];
    await running(through).ended;
    const { HttpAgent } = await import("@ag-ui/client");
    const direct = new HttpAgent({ url: agent.url, threadId: "s1" });
    direct.messages = [{ id: "u1", role: "user", content: "Hi" }];
    await direct.runAgent();
    expect(through.messages).toEqual(direct.messages);
    expect(agent.asked[0]?.input.messages).toEqual(agent.asked[1]?.input.messages);
  });

  it("a frontend tool over two runs: the client's answer reaches the agent as it would have", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", PAGE.name, '{"n":1}')).finish(),
      (asked) => asked.start(...text("t", "Thanks.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [{ id: "u1", role: "user", content: "Hi" }];
    const first = await running(client, { tools: [PAGE] }).ended;
    expect(first.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { pendingToolCallIds: ["c1"] },
    });
    client.messages.push({ id: "a1", role: "tool", toolCallId: "c1", content: "yes" });
    const second = await running(client, { tools: [PAGE] }).ended;
    expect(second.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(agent.asked.map(({ input }) => input.tools.map(({ name }) => name))).toEqual([
      ["page"],
      ["page"],
    ]);
    expect(agent.asked[1]?.input.messages.at(-1)).toEqual({
      id: "a1",
      role: "tool",
      toolCallId: "c1",
      content: "yes",
    });
    expect(client.messages.at(-1)).toMatchObject({ content: "Thanks." });
  });

  it("an interrupt of either kind is resumed by the client, its payloads word for word", async () => {
    const pay = { id: "i1", reason: "tool_call", toolCallId: "c1", message: "Pay?" };
    const ask = { id: "i2", reason: "input_required", responseSchema: { type: "object" } };
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...call("c1", "pay"))
          .finish({ outcome: { type: "interrupt", interrupts: [pay, ask] } }),
      (asked) => asked.start(result("c1", "paid"), ...text("t", "Done.")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [{ id: "u1", role: "user", content: "Hi" }];
    const first = await running(client).ended;
    expect(first.at(-1)).toMatchObject({ outcome: { type: "interrupt", interrupts: [pay, ask] } });
    const resume = [
      {
        interruptId: "i1",
        status: "resolved" as const,
        payload: { approved: true, note: ["kept"] },
      },
      { interruptId: "i2", status: "resolved" as const, payload: { colour: "red" } },
    ];
    const second = await running(client, { resume }).ended;
    expect(second.map(({ type }) => type)).toContain("TOOL_CALL_RESULT");
    expect(agent.asked[1]?.input.resume).toEqual(resume);
    expect(client.messages.at(-1)).toMatchObject({ content: "Done." });
  });

  it("an agent that is killed in the middle of a call is RUN_ERROR and a clean end to its client", async () => {
    await using agent = await endpoint(async (asked) => {
      asked.start(...text("t", "so"), ...call("c1", "search").slice(0, 2));
      await until("the client to see the call", () => seen.types().includes("TOOL_CALL_ARGS"));
      asked.kill();
    });
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const client = stage.client();
    client.messages = [{ id: "u1", role: "user", content: "Hi" }];
    const seen = running(client);
    expect((await seen.ended).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent_lost" });
    expect(client.messages).toContainEqual(expect.objectContaining({ id: "t", content: "so" }));
  });

  it("a Node process with a stock client outlives the loss of the agent, which it would not without Holdfast", async () => {
    const killed = (asked: Asked) => {
      asked.start(...text("t", "so"), ...call("c1", "search").slice(0, 2));
      asked.response.write(": and no more\n\n", () => asked.kill());
    };
    await using agent = await endpoint(killed, (asked) =>
      asked.start(...text("t2", "again")).finish(),
    );
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const messages = JSON.parse(
      await clientProcess(stage.url + PATH, stage.token(), 2),
    ) as object[];
    expect(messages).toContainEqual(expect.objectContaining({ id: "t2", content: "again" }));
    await using bare = await endpoint(killed);
    await expect(clientProcess(bare.url, "", 1)).rejects.toThrow("ended with 1");
  });

  it("the client leaves in the middle, and the run goes on; another one sees all of it", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    await using agent = await endpoint(async (asked) => {
      asked.start(...text("t1", "one"));
      await go;
      asked.send(...text("t2", "two")).finish();
    });
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    const first = stage.client();
    first.messages = [{ id: "u1", role: "user", content: "Hi" }];
    const seen = running(first);
    await seen.until("TEXT_MESSAGE_END");
    first.abortRun();
    await seen.ended;
    resolve();
    const second = stage.client();
    await second.connectAgent();
    await until("the end", () => second.messages.some(({ content }) => content === "two"));
    expect(second.messages.map(({ content }) => content)).toEqual(["Hi", "one", "two"]);
    expect(agent.asked).toHaveLength(1);
  });
});
