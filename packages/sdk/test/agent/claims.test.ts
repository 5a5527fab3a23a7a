import type { AgentItem, Codec } from "@holdfast/protocol";
import { worker } from "@holdfast/sdk/agent";
import { expect, it } from "vitest";
import { AGENT, openLab } from "../support/lab.ts";

const plain: Codec<AgentItem, undefined> = {
  name: "plain",
  encoder: () => ({ encode: (item) => [item], failure: undefined }),
  history: () => Promise.resolve(undefined),
};

it.each([
  ["its framework executes tools by itself", false, "claimed", "executor_lost", undefined],
  ["it executes them itself", true, "ended", "round_superseded", true],
])("a call of a worker that says %s, cut off", async (_, claims, status, reason, withdrawn) => {
  await using lab = await openLab();
  const session = await lab.session();
  await using started = worker({
    url: lab.url,
    token: await lab.token(),
    agent: AGENT,
    codec: plain,
    claims,
    backoff: { baseMs: 10, maxMs: 100 },
    async handler(run) {
      if (run.attempt > 1) return;
      await run.append([
        { type: "round.open" },
        { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pay" },
        { type: "TOOL_CALL_END", toolCallId: "c1" },
      ]);
      await new Promise((resolve) => run.signal.addEventListener("abort", resolve));
    },
  });
  await lab.send(session, "Hi");
  await lab.until(session, ({ calls }) => calls.get("c1")?.status === status);
  await started.stop({ graceMs: 0 });
  const call = await lab.until(session, ({ calls }) => {
    const found = calls.get("c1");
    return found?.status === "settled" && found;
  });
  expect([call.reason, call.withdrawn]).toEqual([reason, withdrawn]);
});
