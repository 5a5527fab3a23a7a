import { toRows, type AgentItem } from "@holdfast/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { provideTool, type Session } from "../../src/client/index.ts";
import { proposal } from "../../../protocol/test/support/desk.ts";
import { TOOLS } from "../support/offer.ts";
import { realServer, type RealServer } from "../support/real-server.ts";
import { waitFor } from "../support/wait-for.ts";

const create = { agent: "demo" };

describe("the client with a real server", () => {
  let server: RealServer;
  beforeEach(async () => {
    server = await realServer();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("streams a run to two people, and a third who comes late sees the same", async () => {
    const [ana, bo] = [open("ana"), open("bo")];
    await ana.send("hello");
    const run = await server.agent(TOOLS).take();
    await run.append({ type: "round.open" }, { type: "TEXT_MESSAGE_START", messageId: "t" });
    for (const delta of ["Hel", "lo ", "Ana"])
      await run.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta });
    await run.append({ type: "TEXT_MESSAGE_END", messageId: "t" }, { type: "round.close" });
    const verdict = await run.finish();
    const late = open("cy");
    for (const session of [ana, bo, late]) {
      await session.reached(verdict?.offset ?? "");
      expect(session.view()).toMatchObject([
        { message: { content: "hello", by: "user:ana" } },
        { run: { outcome: "complete" }, parts: [{ kind: "round" }, { text: "Hello Ana" }] },
      ]);
      expect(rowsOf(session)).toEqual(rowsOf(ana));
    }
  });

  it("C16, C103: a claimed tool runs in one browser; a second answer learns of the first", async () => {
    const [ana, bo] = [open("ana"), open("bo")];
    const ran: string[] = [];
    for (const [name, session] of [
      ["ana", ana],
      ["bo", bo],
    ] as const)
      provideTool(session, { name: "location", execute: () => (ran.push(name), 0) });
    await ana.send("where?");
    await offer("location");
    await waitFor(() => expect(bo.state.calls.get("c1")?.status).toBe("settled"));
    expect(ran).toHaveLength(1);
    await expect(ana.answer("c1", "again")).rejects.toMatchObject({
      code: "already_answered",
    });
    expect(ana.state.calls.get("c1")?.answer).toMatchObject({
      by: `user:${ran[0]}`,
      answer: { type: "json", value: 0 },
    });
  });

  it("C47: what one approves another sees decided, also after opening again", async () => {
    const [ana, bo] = [open("ana"), open("bo")];
    await ana.send("pay");
    await offer("transfer");
    await waitFor(() => expect(bo.state.calls.get("c1")?.status).toBe("gated"));
    const verdict = await bo.decide("c1", { approved: true, reason: "Fine." });
    await ana.reached(verdict.offset);
    await ana.close();
    const again = open("ana");
    await again.ready();
    expect(again.state.calls.get("c1")).toMatchObject({
      status: "open",
      approval: { decision: { by: "user:bo", reason: "Fine." } },
    });
    await expect(again.decide("c1", { approved: false })).rejects.toMatchObject({
      code: "stale_decision",
    });
  });

  it("C73: goes on where it was after the server was away, and what was sent meanwhile arrives once", async () => {
    const session = open("ana");
    const states = vi.fn();
    await session.send("one");
    await session.reached(session.state.head);
    const first = session.state;
    await server.stop();
    await waitFor(() => expect(session.status.type).toBe("reconnecting"));
    const sent = [session.send("two"), session.send("three")];
    session.subscribe(() => states(session.status.type));
    await server.restart();
    const verdicts = await Promise.all(sent);
    await session.reached(verdicts[1]?.offset ?? "");
    await waitFor(() => expect(session.status.type).toBe("live"));
    expect(session.state).toBe(first);
    expect([...session.state.messages.values()].map(({ content }) => content)).toEqual([
      "one",
      "two",
      "three",
    ]);
    const fresh = open("bo");
    await fresh.reached(session.state.head);
    expect(rowsOf(fresh)).toEqual(rowsOf(session));
  });

  it("ends with what the server says of a session that does not exist, or a token it does not know", async () => {
    const missing = server.client("ana").open("missing");
    await expect(missing.ready()).rejects.toMatchObject({ code: "unknown_session" });
    const stranger = server.client("ana", { token: "nonsense" }).open("s1");
    await expect(stranger.ready()).rejects.toMatchObject({ code: "unauthenticated" });
    expect(stranger.status.type).toBe("closed");
  });

  function open(name: string): Session {
    return server.client(name).open("s1", { create });
  }

  async function offer(name: string): Promise<void> {
    const run = await server.agent(TOOLS).take();
    const items: AgentItem[] = [
      { type: "round.open" },
      ...proposal("c1", name),
      { type: "round.close" },
    ];
    await run.append(...items);
    await run.finish();
  }
});

describe("claims that end", () => {
  it("C78: after a reload, a call whose claim ended runs again where that is safe, else waits for a person", async () => {
    await using server = await realServer({ claimLeaseMs: 100 });
    const first = server.client("ana").open("s1", { create });
    const never = () => new Promise<never>(() => {});
    const begun = vi.fn(never);
    for (const name of ["location", "camera"]) provideTool(first, { name, execute: begun });
    await first.send("go");
    const run = await server.agent(TOOLS).take();
    await run.append(
      { type: "round.open" },
      ...proposal("c1", "location"),
      ...proposal("c2", "camera"),
      { type: "round.close" },
    );
    await run.finish();
    await waitFor(() => expect(begun).toHaveBeenCalledTimes(2));
    await first.close();

    const second = server.client("ana").open("s1");
    const again = vi.fn((_: unknown, { callId }: { callId: string }) => callId);
    for (const name of ["location", "camera"]) provideTool(second, { name, execute: again });
    await waitFor(() => {
      expect(second.state.calls.get("c2")?.status).toBe("settled");
      expect(second.state.calls.get("c1")).toMatchObject({ status: "open", manual: true });
    });
    expect(again.mock.results).toMatchObject([{ value: "c2" }]);
    await second.answer("c1", "by hand");
  });
});

function rowsOf(session: Session): unknown {
  const { items, calls, messages, runs } = toRows(session.state);
  return { items, calls, messages, runs };
}
