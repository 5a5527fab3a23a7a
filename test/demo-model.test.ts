import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { callsOf } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { ended, openLab } from "../packages/sdk/test/support/lab.ts";
import { CLOSING_TEXT, providerEndpoint } from "../packages/sdk/test/support/provider-endpoint.ts";
import { ownRecordings } from "../packages/sdk/test/support/recordings.ts";

const AGENT = fileURLToPath(new URL("../examples/demo/agent.ts", import.meta.url));

// The demo's agent as `npm start` runs it, with a key. Its provider, on loopback, asks for the weather, then ends.
test.each([
  ["openai-responses", "OPENAI", "gpt-5-mini"],
  ["anthropic", "ANTHROPIC", "claude-sonnet-4-5"],
] as const)(
  "with a key and a base URL, the demo's agent runs %s",
  async (protocol, name, model) => {
    const recording = ownRecordings().find((it) => it.name === `${protocol}/tool-call`);
    await using endpoint = await providerEndpoint(protocol, recording?.events ?? []);
    await using lab = await openLab({ dev: true });
    const agent = fork(AGENT, {
      execArgv: ["--conditions=@holdfast/source"],
      env: {
        ...process.env,
        OPENAI_API_KEY: "",
        ANTHROPIC_API_KEY: "",
        OPENAI_MODEL: "",
        ANTHROPIC_MODEL: "",
        HOLDFAST_URL: lab.url,
        [`${name}_API_KEY`]: "none",
        [`${name}_BASE_URL`]: endpoint.baseURL,
      },
    });
    try {
      const session = await lab.session();
      const runId = await lab.send(session, "What is the weather in Bad Ischl?");
      const { run, state, text } = await lab.until(session, ended(runId));
      expect(run.outcome).toBe("complete");
      // The place's name has quotes in it, so the demo's own tool knows no such place, and the model is told.
      expect(callsOf(state, runId)).toMatchObject([{ name: "weather", outcome: "error" }]);
      expect(text).toContain(CLOSING_TEXT);
      expect(JSON.stringify(endpoint.requests[1])).toContain("No weather station knows");
      expect(endpoint.requests).toMatchObject([{ model }, { model }]);
    } finally {
      agent.kill("SIGKILL");
      await once(agent, "exit");
    }
  },
);
