import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSocket, provideTool, type Session } from "../../src/client/index.ts";
import { proposal } from "../../../protocol/test/support/desk.ts";
import { realServer, type RealServer } from "../support/real-server.ts";
import { createSockets } from "../support/sockets.ts";
import { waitFor } from "../support/wait-for.ts";

const create = { agent: "demo" };
const PARTLY = ["read", "send", "answer:*", "approve:*"] as const;
const ARGUMENTS = '{"precise":"s3cret"}';

describe.each(["requests", "a socket"])(
  "a client that does not see every tool's data, over %s",
  (wire) => {
    let server: RealServer;
    let sockets: ReturnType<typeof createSockets>;
    let verbs: readonly (typeof PARTLY | ["admin"])[number][];
    beforeEach(async () => {
      server = await realServer();
      verbs = PARTLY;
      sockets = createSockets();
    });
    afterEach(() => server[Symbol.asyncDispose]());

    it("executes a call that it claims with the arguments that come with the claim", async () => {
      const session = open();
      const ran: unknown[] = [];
      provideTool(session, { name: "where", execute: (args) => (ran.push(args), "here") });
      await session.send("where?");
      await waitFor(() => expect(session.state.session.advertised).toHaveLength(1));
      await propose("where", [{ name: "where", executor: "client" }]);
      await waitFor(() => expect(session.state.calls.get("c1")?.outcome).toBe("ok"));
      expect(ran).toEqual([{ precise: "s3cret" }]);
      expect(session.state.calls.get("c1")).toMatchObject({ redacted: true, arguments: "" });
    });

    it("decides by the approval's id", async () => {
      const session = open();
      await session.send("pay");
      await propose("pay", [{ name: "pay", approval: "always" }]);
      await waitFor(() => expect(session.state.calls.get("c1")?.status).toBe("gated"));
      expect(session.state.calls.get("c1")?.approval?.digest).toBe("");
      await session.decide("c1", { approved: true });
      await waitFor(() => expect(session.state.calls.get("c1")?.status).not.toBe("gated"));
    });

    it("begins anew when its role changes", async () => {
      const session = open();
      await session.send("pay");
      await propose("pay", [{ name: "pay", approval: "always" }]);
      await waitFor(() => expect(session.state.calls.get("c1")?.status).toBe("gated"));
      for (const [next, shown] of [
        [["admin"], ARGUMENTS],
        [PARTLY, ""],
      ] as const) {
        const { state } = session;
        verbs = next;
        await server.stop();
        await server.restart();
        await waitFor(() => expect(session.state).not.toBe(state));
        expect(session.state.calls.get("c1")?.arguments).toBe(shown);
        await session.send("and now?", { messageId: `m:${shown}`, whilePending: "queue" });
        await waitFor(() => expect(session.state.messages.has(`m:${shown}`)).toBe(true));
      }
    });

    it("goes on from its cursor while its role stays", async () => {
      const session = open();
      await session.send("hello");
      await session.ready();
      const { state } = session;
      await server.stop();
      await server.restart();
      await session.send("again", { messageId: "again", whileActive: "queue" });
      await waitFor(() => expect(session.state.messages.has("again")).toBe(true));
      expect(session.state).toBe(state);
      expect(sockets.heard.filter(({ type }) => type === "reset")).toEqual([]);
      expect(sockets.made > 1).toBe(wire === "a socket");
    });

    function open(): Session {
      const token = () => server.mint("user:ana", [{ sessions: "*", verbs }]);
      const { webSocket } = sockets;
      const socket = createSocket({ url: server.url, token, webSocket });
      const options = wire === "a socket" ? { token, socket } : { token };
      return server.client("ana", options).open("s1", { create });
    }

    async function propose(name: string, tools: Parameters<RealServer["agent"]>[0]): Promise<void> {
      const run = await server.agent(tools).take();
      await run.append({ type: "round.open" }, ...proposal("c1", name, ARGUMENTS), {
        type: "round.close",
      });
      await run.finish();
    }
  },
);
