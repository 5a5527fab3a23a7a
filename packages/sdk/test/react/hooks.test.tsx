// @vitest-environment happy-dom
import { isCall, redactEntry, type Entry, type ViewNode, type ViewPart } from "@holdfast/protocol";
import {
  act,
  cleanup,
  configure,
  render,
  renderHook,
  screen,
  waitFor,
  within,
} from "@testing-library/react";
import { memo, StrictMode, useState, type ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { z } from "zod";
import { afterEach, describe, expect, it } from "vitest";
import type { Client, Session } from "../../src/client/index.ts";
import {
  HoldfastProvider,
  useApprovals,
  useClientTool,
  useSession,
  useToolCalls,
  useView,
} from "../../src/react/index.ts";
import { loopback, type Loopback } from "../support/loopback.ts";
import { clientOf, commandsSent, offer, TOOLS } from "../support/offer.ts";

// A limit is there to end a hang, not to time anything.
configure({ asyncUtilTimeout: 20_000 });

const clients: Client[] = [];

afterEach(async () => {
  cleanup();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

describe("useSession", () => {
  it("follows a session while it is mounted, and closes it afterwards", async () => {
    const net = loopback();
    const { result, unmount } = renderHook(() => useSession("s1"), { wrapper: providerFor(net) });
    expect(result.current.status).toEqual({ type: "connecting" });
    await waitFor(() => expect(result.current.status).toEqual({ type: "live" }));
    unmount();
    await waitFor(() => expect(net.open).toBe(0));
    expect(result.current.session.status.type).toBe("closed");
  });

  it("shares one connection among components, mounted twice as in StrictMode", async () => {
    const net = loopback();
    const sessions = new Set<Session>();
    const One = () => {
      sessions.add(useSession("s1").session);
      return null;
    };
    const Provider = providerFor(net);
    const { rerender } = render(<One />, { wrapper: strict(Provider) });
    rerender(
      <>
        <One />
        <One />
      </>,
    );
    await waitFor(() => expect(net.open).toBe(1));
    await act(() => new Promise((resolve) => setTimeout(resolve, 10)));
    expect(net.open).toBe(1);
    expect(net.requests.filter(({ path }) => path.endsWith("/entries"))).toHaveLength(1);
    expect(sessions.size).toBe(1);
  });

  it("creates the session where it is told to", async () => {
    const net = loopback();
    const { result } = renderHook(() => useSession("s1", { create: { agent: "demo" } }), {
      wrapper: providerFor(net),
    });
    await waitFor(() => expect(result.current.status.type).toBe("live"));
    expect(net.requests[0]).toMatchObject({ method: "PUT", body: { agent: "demo" } });
  });

  it("keeps a handle that the server refused, with the reason, instead of trying for ever", async () => {
    const net = loopback();
    const { result } = renderHook(() => useSession("elsewhere"), { wrapper: providerFor(net) });
    await waitFor(() => expect(result.current.status.type).toBe("closed"));
    expect(result.current.status).toMatchObject({ error: { code: "unknown_session" } });
    expect(net.requests).toHaveLength(1);
  });

  it("takes a handle of one's own, and another session", async () => {
    const net = loopback();
    const client = clientOf(net);
    clients.push(client);
    const own = client.open("s1");
    const { result, unmount } = renderHook(() => useSession(own));
    expect(result.current.session).toBe(own);
    await waitFor(() => expect(result.current.status.type).toBe("live"));
    unmount();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(own.status.type).toBe("live");
  });

  it("says what is missing where there is no client", () => {
    expect(() => renderToString(<Uses id="s1" />)).toThrow(/HoldfastProvider/);
  });

  it("renders on a server without connecting", () => {
    const net = loopback();
    const Provider = providerFor(net);
    const html = renderToString(
      <Provider>
        <Uses id="s1" />
      </Provider>,
    );
    expect(html).toBe("<p>connecting 0</p>");
    expect(net.requests).toEqual([]);
  });
});

describe("useView", () => {
  it("renders with a token only the item it belongs to", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "weather" });
    const runId = net.act((desk) => {
      desk.user({ type: "run.cancel", runId: "run1" });
      const id = desk.send("second");
      desk.start(id);
      const agent = desk.agent(id);
      agent.append({ type: "TEXT_MESSAGE_START", messageId: "a" });
      agent.append({ type: "TEXT_MESSAGE_END", messageId: "a" });
      agent.append({ type: "TEXT_MESSAGE_START", messageId: "b" });
      return id;
    });
    const renders = new Map<string, number>();
    const count = (id: string) => void renders.set(id, (renders.get(id) ?? 0) + 1);
    const Part = memo(({ part }: { part: ViewPart }) => {
      count(part.id);
      if (isCall(part)) return <i>{part.name}</i>;
      return part.kind === "text" ? <p data-testid={part.id}>{part.text}</p> : null;
    });
    const Node = memo(({ node }: { node: ViewNode }) => {
      count(node.id);
      return node.type === "message" ? (
        <b>{JSON.stringify(node.message.content)}</b>
      ) : (
        node.parts.map((part) => <Part key={part.id} part={part} />)
      );
    });
    const List = () => {
      const { session } = useSession("s1");
      return useView(session).map((node) => <Node key={node.id} node={node} />);
    };
    render(<List />, { wrapper: providerFor(net) });
    await screen.findByTestId("b");
    renders.clear();
    for (const delta of ["Hel", "lo"]) {
      await act(async () => {
        net.act((desk) =>
          desk.agent(runId).append({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta }),
        );
        await new Promise((resolve) => setTimeout(resolve, 150));
      });
    }
    expect(screen.getByTestId("b").textContent).toBe("Hello");
    expect([...renders]).toEqual([
      [runId, 2],
      ["b", 2],
    ]);
  });
});

describe("useToolCalls", () => {
  it("gives the calls that pass, and renders for nothing else", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "location", c2: "transfer", c3: "camera" });
    let renders = 0;
    const { result } = renderHook(
      () => {
        renders += 1;
        const { session } = useSession("s1");
        return {
          session,
          open: useToolCalls(session, { status: ["open", "claimed"] }),
          named: useToolCalls(session, { name: "transfer" }),
        };
      },
      { wrapper: providerFor(net) },
    );
    await waitFor(() => expect(result.current.open.map(({ id }) => id)).toEqual(["c1", "c3"]));
    expect(result.current.named.map(({ id }) => id)).toEqual(["c2"]);
    const { open } = result.current;
    renders = 0;
    await act(() => result.current.session.send("other", { whilePending: "queue" }));
    await act(() => result.current.session.reached(net.desk.state.head));
    expect(renders).toBe(0);
    await act(() => result.current.session.answer("c1", 0));
    await waitFor(() => expect(result.current.open.map(({ id }) => id)).toEqual(["c3"]));
    expect(result.current.open[0]).toBe(open[1]);
  });
});

describe("useApprovals", () => {
  it("lists what waits for a decision, and decides on what was shown", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "transfer", c2: "transfer", c3: "transfer" }, '{"amount":5}');
    const { result } = renderHook(() => useApprovals(useSession("s1").session), {
      wrapper: providerFor(net),
    });
    await waitFor(() => expect(result.current).toHaveLength(3));
    const [first, second, third] = result.current;
    await act(async () => {
      await first?.approve({ reason: "Fine." });
      await second?.deny("Too much.");
    });
    await waitFor(() => expect(result.current).toHaveLength(1));
    expect(result.current[0]).toBe(third);
    await act(async () => void (await third?.edit({ amount: 3 })));
    expect(net.desk.call("c1").approval?.decision).toMatchObject({
      approved: true,
      by: "user:ana",
      reason: "Fine.",
    });
    expect(net.desk.call("c2")).toMatchObject({ outcome: "denied" });
    expect(net.desk.call("c3")).toMatchObject({
      arguments: '{"amount":3}',
      approval: { decision: { edited: { from: '{"amount":5}' } } },
    });
    await expect(first?.deny("Too late.")).rejects.toMatchObject({ code: "stale_decision" });
    await waitFor(() => expect(result.current).toEqual([]));
  });

  it("decides by the approval's id where the digest is hidden", async () => {
    const net = loopback({ tools: TOOLS });
    const redact = (entry: Entry) =>
      redactEntry(
        entry,
        () => false,
        () => undefined,
      );
    net.faults.frame = ({ after, entries }) => [{ after, entries: entries.map(redact) }];
    const { result } = renderHook(() => useApprovals(useSession("s1").session), {
      wrapper: providerFor(net),
    });
    await waitFor(() => expect(net.open).toBe(1));
    offer(net, { c1: "transfer" });
    await waitFor(() => expect(result.current).toHaveLength(1));
    expect(result.current[0]?.call).toMatchObject({ redacted: true, approval: { digest: "" } });
    await act(async () => void (await result.current[0]?.approve()));
    expect(net.desk.call("c1").approval?.decision).toMatchObject({ approved: true });
  });

  it("approves a tool for the rest of the session", async () => {
    const net = loopback({ tools: TOOLS });
    offer(net, { c1: "transfer" });
    const { result } = renderHook(() => useApprovals(useSession("s1").session), {
      wrapper: providerFor(net),
    });
    await waitFor(() => expect(result.current).toHaveLength(1));
    await act(async () => void (await result.current[0]?.approveAlways()));
    expect(net.desk.state.session.grants).toMatchObject([{ tool: "transfer", by: "user:ana" }]);
    await waitFor(() => expect(result.current).toEqual([]));
  });
});

describe("useClientTool", () => {
  it("takes a Standard Schema, made anew in every render, and advertises it once", async () => {
    const net = loopback();
    const ran: unknown[] = [];
    const { rerender } = renderHook(
      () =>
        useClientTool(useSession("s1").session, {
          name: "where",
          parameters: z.object({ city: z.string() }),
          execute: ({ city }) => void ran.push(city.length),
        }),
      { wrapper: providerFor(net) },
    );
    await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
    rerender();
    offer(net, { c1: "where" }, '{"city":"Bern"}');
    await waitFor(() => expect(net.desk.call("c1").status).toBe("settled"));
    expect(ran).toEqual([4]);
    expect(commandsSent(net, "tools.advertise")).toHaveLength(1);
  });

  it("runs a call once in StrictMode, with two components and a new function in every render", async () => {
    const net = loopback();
    const ran: string[] = [];
    const Tool = ({ by }: { by: string }) => {
      const { session } = useSession("s1");
      const [n, setN] = useState(0);
      useClientTool(session, {
        name: "where",
        description: "Where the person is.",
        parameters: { type: "object" },
        execute: async () => {
          ran.push(`${by} ${n}`);
          return "Oslo";
        },
      });
      return <button onClick={() => setN(n + 1)}>{by}</button>;
    };
    render(
      <>
        <Tool by="a" />
        <Tool by="b" />
      </>,
      { wrapper: strict(providerFor(net)) },
    );
    await waitFor(() => expect(net.desk.state.session.advertised).toHaveLength(1));
    act(() => screen.getByText("b").click());
    offer(net, { c1: "where" });
    await waitFor(() => expect(net.desk.call("c1").status).toBe("settled"));
    expect(ran).toEqual(["b 1"]);
    expect(commandsSent(net, "call.claim")).toHaveLength(1);
    expect(commandsSent(net, "call.answer")).toHaveLength(1);
  });

  it("runs a call once in two pages, and shows both the answer", async () => {
    const net = loopback({ tools: TOOLS });
    const ran: string[] = [];
    const Page = ({ name }: { name: string }) => {
      const { session } = useSession("s1");
      useClientTool(session, { name: "location", execute: () => (ran.push(name), name) });
      const [call] = useToolCalls(session, { status: "settled" });
      return <p data-testid={name}>{JSON.stringify(call?.answer?.answer)}</p>;
    };
    for (const name of ["one", "two"]) render(<Page name={name} />, { wrapper: providerFor(net) });
    await waitFor(() => expect(net.open).toBe(2));
    offer(net, { c1: "location" });
    await waitFor(() => expect(screen.getByTestId("one").textContent).not.toBe(""));
    await waitFor(() => expect(screen.getByTestId("two").textContent).not.toBe(""));
    expect(ran).toHaveLength(1);
    expect(screen.getByTestId("one").textContent).toBe(screen.getByTestId("two").textContent);
  });

  it("with confirm, shows every page what waits, and runs it where somebody says so", async () => {
    const net = loopback({ tools: TOOLS });
    const Page = ({ name }: { name: string }) => {
      const { session } = useSession("s1");
      const { requests } = useClientTool(
        session,
        { name: "location", execute: () => new Promise(() => {}) },
        { confirm: true },
      );
      return requests.map(({ call, status, run, decline }) => (
        <section key={call.id} aria-label={name}>
          <p>{status}</p>
          <button onClick={() => void run()}>Share</button>
          <button onClick={() => void decline("No.")}>Decline</button>
        </section>
      ));
    };
    for (const name of ["one", "two"])
      render(<Page name={name} />, { wrapper: strict(providerFor(net)) });
    await waitFor(() => expect(net.open).toBe(2));
    offer(net, { c1: "location" });
    const of = async (name: string) => within(await screen.findByLabelText(name));
    await (await of("one")).findByText("waiting");
    await (await of("two")).findByText("waiting");
    expect(commandsSent(net, "call.claim")).toEqual([]);
    const two = await of("two");
    act(() => two.getByText("Share").click());
    two.getByText("here"); // at once
    await (await of("one")).findByText("elsewhere");
    expect(commandsSent(net, "call.claim")).toHaveLength(1);
    act(() => two.getByText("Decline").click());
    await waitFor(() => expect(screen.queryByText("Share")).toBeNull());
    expect(net.desk.call("c1").reason).toBe("declined");
  });

  it("says why a tool cannot be advertised", async () => {
    const net = loopback({ tools: [{ name: "weather" }] });
    net.act((desk) => desk.start(desk.send("m1")));
    const { result } = renderHook(
      () => useClientTool(useSession("s1").session, { name: "weather", execute: () => 1 }),
      { wrapper: providerFor(net) },
    );
    await waitFor(() => expect(result.current.error).toMatchObject({ code: "tool_name_taken" }));
  });
});

function Uses({ id }: { id: string }): ReactNode {
  const { session, status } = useSession(id);
  const view = useView(session);
  useClientTool(session, { name: "x", execute: () => null });
  return <p>{`${status.type} ${view.length + useApprovals(session).length}`}</p>;
}

function providerFor(net: Loopback): (props: { children?: ReactNode }) => ReactNode {
  const client = clientOf(net);
  clients.push(client);
  return ({ children }) => <HoldfastProvider client={client}>{children}</HoldfastProvider>;
}

function strict(Inner: (props: { children?: ReactNode }) => ReactNode): typeof Inner {
  return ({ children }) => (
    <StrictMode>
      <Inner>{children}</Inner>
    </StrictMode>
  );
}
