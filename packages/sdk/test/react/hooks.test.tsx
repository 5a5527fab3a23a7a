// @vitest-environment happy-dom
import { isCall, redactEntry, type Entry, type ViewNode, type ViewPart } from "@holdfast/protocol";
import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import { memo, type ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { Session } from "../../src/client/index.ts";
import {
  useApprovals,
  useClientTool,
  useSession,
  useToolCalls,
  useView,
} from "../../src/react/index.ts";
import { loopback } from "../support/loopback.ts";
import { clientOf, offer, TOOLS } from "../support/offer.ts";
import { closing, providerFor, strict, tidyUp } from "./provider.tsx";

tidyUp();

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
    closing(client);
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

function Uses({ id }: { id: string }): ReactNode {
  const { session, status } = useSession(id);
  const view = useView(session);
  useClientTool(session, { name: "x", execute: () => null });
  return <p>{`${status.type} ${view.length + useApprovals(session).length}`}</p>;
}
