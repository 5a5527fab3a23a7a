import type { UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { attachRun, type Run } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import type { AgentItem, Fence } from "@holdfast/protocol";
import { startAgent } from "../support/agent.ts";
import { ended, openLab, textOf, type Lab } from "../support/lab.ts";
import { createNetwork } from "../support/network.ts";

/** An agent whose handler is the test's own. */
async function work(lab: Lab, handler: (run: Run<UIMessageChunk>) => Promise<void>) {
  return startAgent(lab, { respond: () => [], worker: { handler } });
}

/** What a framework says in one round. */
async function* say(text: string): AsyncGenerator<UIMessageChunk> {
  yield { type: "start-step" };
  yield { type: "text-start", id: "0" };
  yield { type: "text-delta", id: "0", delta: text };
  yield { type: "text-end", id: "0" };
  yield { type: "finish-step" };
}

function propose(toolCallId: string): AgentItem[] {
  return [
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "look" },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId },
    { type: "round.close" },
  ];
}

test("a step that throws stays open, and doing it again takes back what it wrote", async () => {
  await using lab = await openLab();
  const attempts: number[] = [];
  await using agent = await work(lab, async (run) => {
    await run.pipe(say("before"));
    const attempt = () =>
      run.step("draft", async (step) => {
        attempts.push(step.attempt);
        await step.pipe(say(`draft ${step.attempt}`));
        if (step.attempt === 1) throw new Error("once");
        return step.attempt;
      });
    await expect(attempt()).rejects.toThrow("once");
    expect(run.state.runs.get(run.id)?.steps).toMatchObject([{ status: "open" }]);
    expect(await attempt()).toBe(2);
    await run.pipe(say("after"));
  });
  const session = await lab.session();
  const { run, text } = await lab.until(session, ended(await lab.send(session, "go")));
  expect(attempts).toEqual([1, 2]);
  expect(text).toBe("before\ndraft 2\nafter");
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(run.steps).toMatchObject([{ id: "draft", attempt: 2, status: "ended" }]);
  expect(agent.errors).toEqual([]);
  expect(agent.refused).toEqual([]);
});

test("steps run beside each other, each with its own round and its own message ids", async () => {
  await using lab = await openLab();
  await using agent = await work(lab, async (run) => {
    await Promise.all(
      ["a", "b", "c"].map((id) =>
        run.step(id, async (step) => {
          await step.pipe(say(`${id}1`));
          await step.pipe(say(`${id}2`));
        }),
      ),
    );
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { state, text } = await lab.until(session, ended(runId));
  expect(text.split("\n").toSorted()).toEqual(["a1", "a2", "b1", "b2", "c1", "c2"]);
  const steps = [...state.items.values()].map((item) => ("stepId" in item ? item.stepId : "-"));
  expect(new Set(steps)).toEqual(new Set(["a", "b", "c"]));
  expect(agent.refused).toEqual([]);
  expect(agent.errors).toEqual([]);
});

test("5.7.9 each attempt of a step appends under a name of its own", async () => {
  await using lab = await openLab();
  const network = createNetwork();
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      fetch: network.fetch,
      async handler(run) {
        await run.append([{ type: "round.open" }]);
        for (const id of ["a", "b", "a", "a"]) {
          const step = await run.startStep(id);
          await step.send([{ type: "round.open" }]);
        }
      },
    },
  });
  const session = await lab.session();
  const { run } = await lab.until(session, ended(await lab.send(session, "go")));
  expect(run.steps).toMatchObject([
    { id: "b", attempt: 1 },
    { id: "a", attempt: 3 },
  ]);
  const written = network.requests.flatMap(({ body }) =>
    body.includes("round.open") ? (JSON.parse(body) as { commands: Fence[] }).commands : [],
  );
  const names = new Set(written.map(({ producer }) => producer));
  const places = new Set(written.map(({ stepId, stepAttempt }) => `${stepId} ${stepAttempt}`));
  expect([names.size, places.size]).toEqual([5, 5]);
  expect(agent.errors).toEqual([]);
});

test("an older handle of a step is fenced, and its run is not", async () => {
  await using lab = await openLab();
  await using agent = await work(lab, async (run) => {
    const first = await run.startStep("s");
    await first.send([{ type: "round.open" }]);
    const second = await run.startStep("s");
    expect(first.signal.reason).toMatchObject({ code: "attempt_fenced" });
    await expect(first.send([{ type: "round.close" }])).rejects.toMatchObject({
      code: "attempt_fenced",
    });
    expect(run.signal.aborted).toBe(false);
    await second.pipe(say("second"));
    await second.end();
    await expect(second.send([{ type: "round.open" }])).rejects.toThrow();
  });
  const session = await lab.session();
  const { text, run } = await lab.until(session, ended(await lab.send(session, "go")));
  expect(text).toBe("second");
  expect(run.outcome).toBe("complete");
  expect(agent.errors).toEqual([]);
});

test("a step answers its calls; a retry may answer anew until somebody read it", async () => {
  await using lab = await openLab();
  await using agent = await work(lab, async (run) => {
    const first = await run.startStep("s");
    await first.send(propose("c1"));
    await first.answer("c1", { n: 1 });
    expect(run.state.calls.get("c1")).toBeDefined();
    await first.end();
    // A round outside the step reads the answer.
    await run.pipe(say("read"));
    await expect(run.startStep("s")).rejects.toMatchObject({ code: "step_settled" });
    await expect(run.step("s", async () => {})).rejects.toMatchObject({ code: "step_settled" });
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { state, run } = await lab.until(session, ended(runId));
  expect(state.calls.get("c1")).toMatchObject({
    outcome: "ok",
    answer: { answer: { type: "json", value: { n: 1 } }, stepId: "s", stepAttempt: 1 },
  });
  expect(run.outcome).toBe("complete");
  expect(agent.errors).toEqual([]);
});

test("an error that a step's stream reports ends the run, unless the step is done again", async () => {
  await using lab = await openLab();
  async function* broken(): AsyncGenerator<UIMessageChunk> {
    yield { type: "start-step" };
    yield { type: "error", errorText: "overloaded" };
  }
  let good = false;
  await using agent = await work(lab, async (run) => {
    const piped = await run.step("s", (step) => step.pipe(broken()));
    expect(piped.failure?.message).toBe("overloaded");
    if (good) await run.step("s", (step) => step.pipe(say("fine")));
  });
  const session = await lab.session();
  const bad = await lab.until(session, ended(await lab.send(session, "go")));
  expect(bad.run).toMatchObject({ outcome: "error", error: { message: "overloaded" } });
  good = true;
  const fine = await lab.until(session, ended(await lab.send(session, "go")));
  expect(fine.run.outcome).toBe("complete");
  expect(fine.text).toBe("fine");
  expect(agent.refused).toEqual([]);
});

test("a step goes on in the next attempt of its run: what the lost one wrote is taken back", async () => {
  await using lab = await openLab({ leaseMs: 300, heartbeatMs: 100 });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const session = await lab.session();
  let runId = "";
  {
    await using first = await startAgent(lab, {
      respond: () => [],
      worker: {
        async handler(run) {
          const step = await run.startStep("s");
          await step.pipe(say("lost"));
          begin();
          await new Promise((_, reject) => run.signal.addEventListener("abort", reject));
        },
      },
    });
    runId = await lab.send(session, "go");
    await begun;
    await first.stop({ graceMs: 0 });
  }
  await using second = await work(lab, async (run) => {
    await run.step("s", (step) => step.pipe(say(`kept in ${run.attempt}, ${step.attempt}`)));
  });
  const { text } = await lab.until(session, ended(runId));
  expect(text).toBe("kept in 2, 2");
  expect(second.errors).toEqual([]);
});

test("several processes append to one attempt, and one sees the cancels that came before it", async () => {
  await using lab = await openLab();
  await using agent = await work(lab, async (run) => {
    const { session, id: runId, attempt, token } = run;
    const where = { url: lab.url, token, session, runId, attempt, codec: aiSdk };
    await run.append(propose("c1"));
    await run.append(propose("c2"));
    await lab.command(session, { type: "call.cancel", callId: "c1", reason: "no" });
    await using other = await attachRun(where);
    expect(other.state.calls.get("c1")).toMatchObject({ outcome: "cancelled" });
    expect(other.calls({ state: "open" }).map(({ id }) => id)).toEqual(["c2"]);
    await Promise.all([run.pipe(say("one")), other.pipe(say("two"))]);
    await other.step("s", (step) => step.pipe(say("three")));
    await other.answer("c2", 0);
    await expect(attachRun({ ...where, runId: "other" })).rejects.toMatchObject({
      code: "unknown_run",
    });
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { state, run } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(textOf(state, runId).split("\n").toSorted()).toEqual(["one", "three", "two"]);
  expect(state.calls.get("c2")?.answer?.answer).toEqual({ type: "json", value: 0 });
  expect(agent.errors).toEqual([]);
  expect(agent.refused).toEqual([]);
});

test("a cancelled run lets go of every process that is attached to it", async () => {
  await using lab = await openLab();
  const { promise, resolve } = Promise.withResolvers<Run<UIMessageChunk>>();
  await using agent = await work(lab, async (run) => {
    resolve(run);
    await new Promise((_, reject) => run.signal.addEventListener("abort", reject));
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { attempt, token } = await promise;
  const where = { url: lab.url, token, session, runId, attempt, codec: aiSdk };
  await using other = await attachRun(where);
  await lab.command(session, { type: "run.cancel", runId });
  await expect.poll(() => other.signal.aborted).toBe(true);
  expect(other.signal.reason).toMatchObject({ code: "run_ended" });
  await expect(attachRun(where)).rejects.toMatchObject({ code: "run_ended" });
  expect(agent.errors).toEqual([]);
});
