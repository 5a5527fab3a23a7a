import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { openBrowser } from "./browser.ts";
import { startRuntime } from "./runtimes.ts";
import { held, openStage, page, thread } from "./stage.ts";

it("C49 what the runtime fills in for a call whose stream broke off is nobody's answer", async () => {
  await using stage = await openStage();
  await using between = await endsBehind("TOOL_CALL_END", stage.lab.url);
  const token = await stage.lab.mint("user:ana");
  await using runtime = await startRuntime({
    mode: "url",
    server: between.url,
    token,
    agentTokens: {},
  });
  const session = thread();
  let executions = 0;
  const tool = page(async () => `here ${(executions += 1)}`, "frontend");
  const browser = openBrowser(runtime.url, session, [tool]);
  await browser.say("linger");
  expect(browser.types().slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_ERROR"]);
  expect(browser.story().at(-1)).toContain("missing_terminal_event");
  stage.agent.go(session);
  await stage.lab.until(session, ({ runs }) =>
    [...runs.values()].some(({ status }) => status === "suspended"),
  );
  await browser.say("Ana");
  expect(await held(stage.lab, session)).toMatchObject({
    runs: [
      ["complete", ""],
      ["complete", "Hello, Ana."],
    ],
    calls: [{ name: "page", outcome: "abandoned" }],
  });
  // The page is told what became of it instead.
  expect(browser.story()).toEqual([
    "user: linger",
    "[page]",
    "tool: Not executed: the user sent another message instead.",
    "user: Ana",
    "assistant: Hello, Ana.",
  ]);
  expect(executions).toBe(0);
});

it("a page of the runner's does not see that the stream broke off, and executes its tool", async () => {
  await using stage = await openStage();
  await using between = await endsBehind("TOOL_CALL_END", stage.lab.url);
  const token = await stage.lab.mint("user:ana");
  await using runtime = await startRuntime({
    mode: "runner",
    server: between.url,
    token,
    agentTokens: {},
  });
  const session = thread();
  const tool = page(async () => "here", "frontend");
  const browser = openBrowser(runtime.url, session, [tool]);
  const said = browser.say("linger");
  await browser.until("TOOL_CALL_END");
  stage.agent.go(session);
  await said;
  expect(browser.story()).toEqual([
    "user: linger",
    "[page]",
    "tool: here",
    "assistant: You said here.",
  ]);
  const runs = browser.types().filter((type) => type.startsWith("RUN_"));
  expect(runs).toEqual(["RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"]);
  // One for each run, and one that went on behind the break.
  expect(between.answers()).toBe(3);
  expect(browser.errors).toEqual([]);
  expect((await held(stage.lab, session)).calls).toEqual([
    { name: "page", outcome: "ok", settledBy: "user:ana" },
  ]);
});

/** A proxy that ends the first answer behind an event of a type, as one does that is restarted. */
async function endsBehind(type: string, target: string) {
  let isOver = false;
  let answers = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { authorization = "", "last-event-id": lastEventId } = request.headers;
      const cursor = typeof lastEventId === "string" && { "last-event-id": lastEventId };
      const headers = { authorization, "content-type": "application/json", ...cursor };
      const body = Buffer.concat(chunks);
      const answer = await fetch(target + request.url, { method: "POST", headers, body });
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "",
      });
      answers += 1;
      let told = "";
      for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        response.write(text);
        told += text;
        if (isOver || !told.includes(type)) continue;
        isOver = true;
        break;
      }
      response.end();
    })().catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** How many requests it has answered. */
    answers: () => answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
