// @vitest-environment happy-dom
import { isCall } from "@holdfast/protocol";
import { act, cleanup, configure, render, screen, waitFor, within } from "@testing-library/react";
import { StrictMode, type ReactNode } from "react";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { proposal } from "../../../protocol/test/support/desk.ts";
import type { Client } from "../../src/client/index.ts";
import {
  HoldfastProvider,
  useApprovals,
  useClientTool,
  useSession,
  useView,
} from "../../src/react/index.ts";
import { TOOLS } from "../support/offer.ts";
import { serverThread } from "../support/server-thread.ts";

// A limit is there to end a hang, not to time anything.
configure({ asyncUtilTimeout: 20_000 });

let server: Awaited<ReturnType<typeof serverThread>>;
const clients: Client[] = [];
beforeAll(async () => {
  server = await serverThread();
});
afterEach(async () => {
  cleanup();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => server.stop());

it("two people chat with an agent that needs a tool of theirs and a decision", async () => {
  const ran: string[] = [];
  const Chat = ({ name }: { name: string }) => {
    const { session, status } = useSession("chat", { create: { agent: "demo" } });
    const view = useView(session);
    const approvals = useApprovals(session);
    useClientTool(session, { name: "location", execute: () => (ran.push(name), "Oslo") });
    return (
      <section aria-label={name}>
        <h1>{status.type}</h1>
        <button onClick={() => void session.send(`hello from ${name}`)}>send</button>
        {approvals.map(({ call, approve }) => (
          <button key={call.id} onClick={() => void approve({ reason: `${name} says so` })}>
            approve {call.name}
          </button>
        ))}
        {view.map((node) =>
          node.type === "message" ? (
            <p key={node.id}>{JSON.stringify(node.message.content)}</p>
          ) : (
            <div key={node.id}>
              <h2>{node.run.outcome ?? node.run.status}</h2>
              {node.parts.map((part) =>
                isCall(part) ? (
                  <pre key={part.id}>
                    {`${part.name} ${part.outcome ?? part.status} ${JSON.stringify(part.answer?.answer)} ${part.approval?.decision?.reason ?? ""}`}
                  </pre>
                ) : part.kind === "text" ? (
                  <p key={part.id}>{part.text}</p>
                ) : null,
              )}
            </div>
          ),
        )}
      </section>
    );
  };
  const page = (name: string): ReactNode => {
    const client = server.client(name);
    clients.push(client);
    return (
      <StrictMode>
        <HoldfastProvider client={client}>
          <Chat name={name} />
        </HoldfastProvider>
      </StrictMode>
    );
  };
  render(
    <>
      {page("ana")}
      {page("bo")}
    </>,
  );
  const ana = within(screen.getByLabelText("ana"));
  const bo = within(screen.getByLabelText("bo"));
  await waitFor(() => expect(screen.getAllByText("live")).toHaveLength(2));
  act(() => ana.getByText("send").click());
  await bo.findByText('"hello from ana"');

  const first = await server.agent(TOOLS).take();
  await first.append(
    { type: "round.open" },
    { type: "TEXT_MESSAGE_START", messageId: "t" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "Let me see." },
    { type: "TEXT_MESSAGE_END", messageId: "t" },
    ...proposal("c1", "location"),
    ...proposal("c2", "transfer"),
    { type: "round.close" },
  );
  await first.finish();
  await bo.findByText("Let me see.");
  const button = await bo.findByText("approve transfer");
  await ana.findByText(/^location ok {"type":"json","value":"Oslo"}/);
  expect(ran).toHaveLength(1);
  act(() => button.click());

  const second = await server.agent(TOOLS).take();
  await second.command({
    type: "call.answer",
    callId: "c2",
    outcome: "ok",
    answer: { type: "text", text: "paid" },
  });
  await second.finish();
  for (const page of [ana, bo]) {
    await page.findByText("complete");
    await page.findByText('transfer ok {"type":"text","text":"paid"} bo says so');
    expect(page.queryByText("approve transfer")).toBeNull();
  }
});
