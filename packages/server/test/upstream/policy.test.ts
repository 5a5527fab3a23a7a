import { describe, expect, it } from "vitest";
import { call, endpoint, result, text } from "./endpoint.ts";
import { scene } from "./scene.ts";

const PAY = call("c1", "pay", '{"n":1}');

/** A session whose operator wants every payment decided. */
async function strictDesk(url: string) {
  const desk = scene({ url });
  const token = await desk.server.mint("user:root", [{ sessions: "*", verbs: ["admin"] }]);
  const put = (path: string, method: string, body: object) =>
    desk.server.fetch(
      new Request(`http://server.test/v1/sessions/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }),
    );
  await desk.say("Hello");
  const tools = [{ tool: "pay", approval: "always" }];
  const response = await put("s/commands", "POST", {
    id: "p",
    type: "policy.set",
    policy: { tools },
  });
  expect(response.status).toBe(200);
  return desk;
}

describe("12.5.10 a tool that its session's policy gates, called by an AG-UI agent", () => {
  it("cannot be held back where the agent runs it: it is never shown as approved", async () => {
    await using agent = await endpoint(
      (asked) => asked.start().finish(),
      (asked) => asked.start(...PAY, result("c1", "paid"), ...text("t", "Paid.")).finish(),
    );
    await using desk = await strictDesk(agent.url);
    expect(await desk.reaches(await desk.say("Pay"), "ended")).toMatchObject({
      outcome: "complete",
    });
    const made = await desk.call("c1");
    expect(made).toMatchObject({ outcome: "error", reason: "executed_without_approval" });
    expect(made.approval?.decision).toBeUndefined();
  });

  it.each([
    ["approved", true, expect.stringMatching(/^Approved, .*call it again/)],
    ["denied", false, "Error: Denied: Too much."],
  ])(
    "waits where the agent leaves it, and the agent is told in words that it was %s",
    async (_, approved, words) => {
      await using agent = await endpoint(
        (asked) => asked.start().finish(),
        (asked) => asked.start(...text("t1", "May I?"), ...PAY).finish(),
        (asked) =>
          approved
            ? asked.start(...PAY, result("c1", "paid"), ...text("t2", "Paid.")).finish()
            : asked.start(...text("t2", "Then not.")).finish(),
      );
      await using desk = await strictDesk(agent.url);
      const runId = await desk.say("Pay");
      await desk.reaches(runId, "suspended");
      const { approval } = await desk.call("c1");
      const decision = { approvalId: approval?.id ?? "", approved };
      const reason = approved ? {} : { reason: "Too much." };
      await desk.command({ type: "call.decide", callId: "c1", ...decision, ...reason });
      expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete" });
      expect(agent.asked[2]?.input).not.toHaveProperty("resume");
      const told = agent.asked[2]?.input.messages.filter(({ role }) => role === "tool");
      expect(told).toMatchObject([{ toolCallId: "c1", content: words, error: words }]);
      // Called again under its id, it is the call that was approved: one, executed once.
      expect([...(await desk.state()).calls.keys()]).toEqual(["c1"]);
      expect(await desk.call("c1")).toMatchObject({ outcome: approved ? "ok" : "denied" });
    },
  );
});

describe("12.5.10 what an AG-UI agent says of a call that was approved", () => {
  const ASK = { id: "i1", reason: "tool_call", toolCallId: "c1" };

  it.each([
    ["other arguments", call("c1", "pay", '{"n":1000}'), "pay", '{"n":1000}'],
    ["another name", call("c1", "refund", '{"n":1}'), "refund", '{"n":1}'],
  ])(
    "is of another call where it has %s: that was never approved",
    async (_, again, name, args) => {
      await using agent = await endpoint(
        (asked) =>
          asked.start(...PAY).finish({ outcome: { type: "interrupt", interrupts: [ASK] } }),
        (asked) => asked.start(...again, result("c1", "done")).finish(),
      );
      await using desk = scene({ url: agent.url });
      const runId = await desk.say("Pay");
      await desk.reaches(runId, "suspended");
      const decision = { callId: "c1", approvalId: "i1", approved: true };
      await desk.command({ type: "call.decide", ...decision });
      await desk.reaches(runId, "ended");
      const [approved, other, ...more] = [...(await desk.state()).calls.values()];
      expect(more).toEqual([]);
      expect(approved).toMatchObject({ id: "c1", arguments: '{"n":1}', reason: "unanswered" });
      expect(other).toMatchObject({ name, arguments: args, outcome: "ok" });
      expect(other?.approval).toBeUndefined();
    },
  );

  it("in other words is the same", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...PAY).finish({ outcome: { type: "interrupt", interrupts: [ASK] } }),
      (asked) => asked.start(...call("c1", "pay", '{ "n": 1 }'), result("c1", "paid")).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Pay");
    await desk.reaches(runId, "suspended");
    const decision = { callId: "c1", approvalId: "i1", approved: true };
    await desk.command({ type: "call.decide", ...decision });
    await desk.reaches(runId, "ended");
    const calls = [...(await desk.state()).calls.values()];
    expect(calls).toMatchObject([{ id: "c1", outcome: "ok", arguments: '{"n":1}' }]);
  });
});
