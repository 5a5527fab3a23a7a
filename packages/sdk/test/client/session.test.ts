import { isCall, type Call, type HoldfastError, type ToolDeclaration } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { createClient, type ClientOptions, type Session } from "../../src/client/index.ts";
import { proposal } from "../../../protocol/test/support/desk.ts";
import { loopback, problem, type Loopback } from "../support/loopback.ts";
import { waitFor } from "../support/wait-for.ts";

const TOOLS: ToolDeclaration[] = [
  { name: "location", executor: "client" },
  { name: "transfer", approval: "always" },
];

describe("session", () => {
  it("creates, connects and follows; what it reduces is what the server has", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const session = client.open("s1", { create: { agent: "demo" } });
    expect(session.status).toEqual({ type: "connecting" });
    expect(session.view()).toEqual([]);
    await session.ready();
    expect(net.requests[0]).toMatchObject({
      method: "PUT",
      path: "/v1/sessions/s1",
      body: { agent: "demo" },
    });
    const verdict = await session.send("hello");
    expect(verdict).toMatchObject({ status: "applied", runId: "run1" });
    await session.reached(verdict.offset);
    expect(session.view()).toMatchObject([
      { type: "message", message: { content: "hello", by: "user:ana" } },
      { type: "run", run: { status: "queued" } },
    ]);
    expect(session.status).toEqual({ type: "live" });
  });

  it("C73: knows after a reload that the server is at work, before it said anything", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const first = client.open("s1");
    await first.send("hello");
    await first.close();
    const again = client.open("s1");
    await again.ready();
    expect(again.view().at(-1)).toMatchObject({ run: { status: "queued" } });
    net.act((desk) => desk.start("run1"));
    await waitFor(() => expect(again.view().at(-1)).toMatchObject({ run: { status: "active" } }));
  });

  it("C65: learns that a run ended although the notice of it was lost", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const session = client.open("s1");
    await session.send("hello");
    net.act((desk) => desk.start("run1"));
    net.faults.frame = () => [];
    net.act((desk) => desk.agent("run1").finish());
    net.cut(new Error("gone"));
    await waitFor(() =>
      expect(session.view().at(-1)).toMatchObject({ run: { outcome: "complete" } }),
    );
  });

  it("notifies once for all that came in one turn", async () => {
    const net = loopback();
    const turns: (() => void)[] = [];
    await using client = clientOf(net, { schedule: (run) => void turns.push(run) });
    const session = client.open("s1");
    await session.ready();
    let heard = 0;
    session.subscribe(() => (heard += 1));
    for (const turn of turns.splice(0)) turn();
    heard = 0;
    const version = session.version;
    for (let n = 0; n < 5; n += 1) await session.send(`m${n}`);
    await waitFor(() => expect(session.state.messages.size).toBe(5));
    expect(turns).toHaveLength(1);
    expect(session.version).toBe(version);
    turns[0]?.();
    expect(heard).toBe(1);
    expect(session.version).toBe(version + 1);
  });

  it("C16: tells the second answer who won, when, and with what", async () => {
    const net = loopback({ tools: TOOLS });
    await using ana = clientOf(net);
    await using bo = clientOf(net, { fetch: net.fetchAs("bo") });
    offer(net);
    const [first, second] = [ana.open("s1"), bo.open("s1")];
    await Promise.all([first.ready(), second.ready()]);
    await first.answer("c1", { city: "Oslo" });
    const error = await second.answer("c1", { city: "Rome" }).catch((it: HoldfastError) => it);
    expect(error).toMatchObject({ code: "already_answered" });
    expect(JSON.stringify((error as HoldfastError).details)).toContain("Oslo");
    expect(JSON.stringify((error as HoldfastError).details)).toContain("user:ana");
    await waitFor(() =>
      expect(callOf(second, "c1").answer).toMatchObject({
        by: "user:ana",
        answer: { type: "json", value: { city: "Oslo" } },
      }),
    );
  });

  it.each([0, "", false, null, undefined])("C103: takes %j for an answer", async (value) => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    offer(net);
    const session = client.open("s1");
    const { offset } = await session.answer("c1", value);
    await session.reached(offset);
    expect(callOf(session, "c1")).toMatchObject({
      status: "settled",
      outcome: "ok",
      answer: { answer: { type: "json", value: value ?? null } },
    });
  });

  it("answers with text or parts only where that is said", async () => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    offer(net);
    const session = client.open("s1");
    await expect(session.answer("c1", 1, { as: "text" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    const { offset } = await session.answer("c1", { type: "text", text: "data" });
    await session.reached(offset);
    expect(callOf(session, "c1").answer?.answer.type).toBe("json");
  });

  it("decides on the approval that stands, and learns what stands where it is stale", async () => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    offer(net, "transfer");
    const session = client.open("s1");
    await session.ready();
    await expect(
      session.decide("c1", { approved: true, approvalId: "other" }),
    ).rejects.toMatchObject({ code: "stale_decision" });
    await expect(session.decide("nothing", { approved: true })).rejects.toMatchObject({
      code: "unknown_call",
    });
    const { offset } = await session.decide("c1", { approved: false, reason: "Too much." });
    await session.reached(offset);
    expect(callOf(session, "c1")).toMatchObject({
      outcome: "denied",
      approval: { decision: { approved: false, by: "user:ana", reason: "Too much." } },
    });
  });

  it("C47: shows a decided and finished call as it is after a reload", async () => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    offer(net, "transfer");
    const session = client.open("s1");
    await session.ready();
    await session.decide("c1", { approved: true });
    await session.close();
    net.act((desk) => {
      desk.start("run1");
      const agent = desk.agent("run1");
      const { claimId = "" } = agent.command({ type: "call.claim", callId: "c1" });
      agent.append({
        type: "call.answer",
        callId: "c1",
        claimId,
        outcome: "ok",
        answer: { type: "json", value: "sent" },
      });
      agent.finish();
    });
    const again = client.open("s1");
    await again.ready();
    expect(callOf(again, "c1")).toMatchObject({
      status: "settled",
      outcome: "ok",
      approval: { decision: { approved: true } },
    });
    expect([...again.state.calls.values()].filter((call) => call.status === "gated")).toEqual([]);
  });

  it("claims, shows progress, renews, releases, declines and cancels", async () => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    offer(net);
    const session = client.open("s1");
    const { claimId } = await session.claim("c1");
    await session.renew("c1", claimId);
    await session.progress("c1", { done: 0.5 }, { claimId });
    expect(net.desk.call("c1")).toMatchObject({ status: "claimed", progress: { done: 0.5 } });
    await session.release("c1", claimId);
    expect(net.desk.call("c1").status).toBe("open");
    await session.decline("c1", "Not now.");
    expect(net.desk.call("c1")).toMatchObject({ outcome: "error", reason: "declined" });
    await expect(session.cancelCall("c1")).rejects.toMatchObject({ code: "call_settled" });
    await expect(session.cancelRun("nothing")).rejects.toMatchObject({ code: "unknown_run" });
  });

  it("reads arguments as they stream, and as they ended", async () => {
    const net = loopback({ tools: TOOLS });
    await using client = clientOf(net);
    const session = client.open("s1");
    await session.send("hello");
    net.act((desk) => {
      desk.start("run1");
      desk
        .agent("run1")
        .append({ type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "location" });
    });
    const arrive = async (delta: string) => {
      net.act((desk) =>
        desk.agent("run1").append({ type: "TOOL_CALL_ARGS", toolCallId: "c1", delta }),
      );
      await session.reached(net.desk.state.head);
      return session.partialArguments(callOf(session, "c1"));
    };
    expect(await arrive('{"city":"Os')).toEqual({ city: "Os" });
    expect(await arrive('lo","days":[1,2')).toEqual({ city: "Oslo", days: [1, 2] });
    expect(session.partialArguments(callOf(session, "c1"))).toBe(
      session.partialArguments(callOf(session, "c1")),
    );
    net.act((desk) =>
      desk
        .agent("run1")
        .append(
          { type: "call.replace_arguments", callId: "c1", arguments: '{"city":"Bergen"}' },
          { type: "TOOL_CALL_END", toolCallId: "c1" },
        ),
    );
    await session.reached(net.desk.state.head);
    expect(session.partialArguments(callOf(session, "c1"))).toEqual({ city: "Bergen" });
    const last = session.view().at(-1);
    expect(last?.type === "run" && last.parts.filter(isCall)).toHaveLength(1);
  });

  it("closes for good when the server refuses it", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const session = client.open("elsewhere");
    await expect(session.ready()).rejects.toMatchObject({ code: "unknown_session" });
    expect(session.status).toMatchObject({ type: "closed", error: { code: "unknown_session" } });
    await expect(session.send("x")).rejects.toMatchObject({ code: "unknown_session" });
    session.connect();
    expect(session.status.type).toBe("closed");
  });

  it("stays closed, and readable, once closed", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const session = client.open("s1");
    await session.send("hello");
    await session.reached(net.desk.state.head);
    net.faults.request = () => new TypeError("down");
    const waiting = session.send("never");
    const refused = expect(waiting).rejects.toMatchObject({ code: "closed" });
    await session.close();
    await refused;
    await expect(session.send("x")).rejects.toMatchObject({ code: "closed" });
    await expect(session.reached("zzz")).rejects.toMatchObject({ code: "closed" });
    await session.close();
    expect(session.status).toEqual({ type: "closed" });
    expect(session.view()).toHaveLength(2);
    expect(net.open).toBe(0);
  });

  it("connects only when told to, where it was opened lazily", async () => {
    const net = loopback();
    await using client = clientOf(net);
    const session = client.open("s1", { lazy: true });
    const sent = session.send("hello");
    await Promise.resolve();
    expect(net.requests).toEqual([]);
    session.connect();
    await expect(sent).resolves.toMatchObject({ status: "applied" });
  });

  it("stops waiting when the signal says so", async () => {
    const net = loopback();
    await using client = clientOf(net);
    net.faults.request = () => problem({ code: "overloaded", message: "Later." });
    const session = client.open("s1");
    const stop = AbortSignal.abort("enough");
    await expect(session.ready({ signal: stop })).rejects.toBe("enough");
    await expect(session.send("x", { signal: stop })).rejects.toBe("enough");
  });
});

/** A run that proposes call `c1` and waits for it. */
function offer(net: Loopback, name = "location"): void {
  net.act((desk) => {
    const runId = desk.send("m1");
    desk.start(runId);
    desk.agent(runId).append({ type: "round.open" }, ...proposal("c1", name), {
      type: "round.close",
    });
    desk.agent(runId).finish();
  });
}

function clientOf(net: Loopback, options: Partial<ClientOptions> = {}) {
  return createClient({
    url: net.url,
    fetch: net.fetch,
    backoff: { baseMs: 1, maxMs: 2 },
    ...options,
  });
}

function callOf(session: Session, id: string): Call {
  const call = session.state.calls.get(id);
  if (!call) throw new Error(`no call ${id}`);
  return call;
}
