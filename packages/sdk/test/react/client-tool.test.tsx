// @vitest-environment happy-dom
import { act, render, renderHook, screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { z } from "zod";
import { describe, expect, it } from "vitest";
import { useClientTool, useSession, useToolCalls } from "../../src/react/index.ts";
import { loopback } from "../support/loopback.ts";
import { commandsSent, offer, TOOLS } from "../support/offer.ts";
import { providerFor, strict, tidyUp } from "./provider.tsx";

tidyUp();

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
