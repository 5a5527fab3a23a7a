import { fromRows, reduceAll, toRows, type Frame, type SessionState } from "@holdfast/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTransport, follow, type FollowOptions, type Link } from "../../src/wire/index.ts";
import { loopback, problem, type Loopback } from "../support/loopback.ts";
import { manualTiming, settle } from "../support/manual-timing.ts";
import { waitFor } from "../support/wait-for.ts";

const fast = { baseMs: 1, maxMs: 2 };

describe("follow", () => {
  it("opens with the state and goes on from exactly there", async () => {
    const net = loopback();
    talk(net);
    const reader = read(net);
    await reader.caughtUp();
    net.act(token("more"));
    await reader.caughtUp();
    expect(reader.kinds).toEqual(["state", "frame"]);
    expect(net.requests.map(({ path, query }) => `${path}?${query}`)).toEqual([
      "/v1/sessions/s1/state?",
      `/v1/sessions/s1/entries?after=${reader.offsets[0]}`,
    ]);
    await reader.stop();
    expect(net.open).toBe(0);
  });

  it("starts at a given cursor without a state", async () => {
    const net = loopback();
    talk(net);
    const transport = createTransport({ url: net.url, fetch: net.fetch });
    const frames: Frame[] = [];
    for await (const followed of follow(transport, { session: "s1", after: offsetOf(net, 1) })) {
      if (followed.type === "frame") frames.push(followed.frame);
      if (frames.at(-1)?.entries.at(-1)?.offset === net.desk.state.head) break;
    }
    expect(frames.flatMap(({ entries }) => entries)).toEqual(
      JSON.parse(JSON.stringify(net.desk.entries.slice(2))),
    );
    expect(net.open).toBe(0);
  });

  it("skips what comes twice, and reads back what is missing", async () => {
    const net = loopback();
    talk(net);
    const reader = read(net);
    await reader.caughtUp();
    const held: Frame[] = [];
    net.faults.frame = (frame) => (held.push(frame), []);
    for (const delta of ["a", "b", "c"]) net.act(token(delta));
    net.faults.frame = (frame) => [frame, frame, ...held.splice(0).reverse(), frame];
    net.act(token("d"));
    await reader.caughtUp();
    expect(reader.rows()).toEqual(rowsOf(net));
    expect(net.requests.filter(({ query }) => query.has("limit"))).toHaveLength(1);
    await reader.stop();
  });

  it("resumes from the exact cursor after a break, with backoff that grows", async () => {
    const net = loopback();
    talk(net);
    const { timing, pass } = manualTiming();
    const links: Link[] = [];
    const reader = read(net, {
      timing,
      backoff: { baseMs: 100, maxMs: 1_000 },
      onLink: (link) => links.push(link),
    });
    await settle();
    net.act(token("a"));
    await settle();
    const cursor = net.desk.state.head;
    net.faults.request = () => new TypeError("network down");
    net.cut(new Error("gone"));
    await pass(0);
    for (const ms of [100, 200, 400, 800, 1_000, 1_000]) {
      const link = links.at(-1);
      expect(link).toMatchObject({ type: "lost", error: { code: "unreachable" } });
      expect(link?.type === "lost" && link.retryAt - timing.now()).toBe(ms);
      await pass(ms);
    }
    delete net.faults.request;
    net.act(token("while away"));
    await pass(1_000);
    expect(links.at(-1)).toEqual({ type: "connected" });
    expect(net.requests.at(-1)?.query.get("after")).toBe(cursor);
    expect(reader.rows()).toEqual(rowsOf(net));
    await reader.stop();
  });

  it("waits a random part of the backoff", async () => {
    const net = loopback();
    const { timing, pass } = manualTiming(() => 0.25);
    const links: Link[] = [];
    net.faults.request = () => new TypeError("network down");
    const reader = read(net, {
      timing,
      backoff: { baseMs: 100, maxMs: 1_000 },
      onLink: (link) => links.push(link),
    });
    await pass(0);
    expect(links).toMatchObject([{ type: "lost", retryAt: timing.now() + 25 }]);
    await reader.stop();
  });

  it("takes silence for a dead connection, and heartbeats for life", async () => {
    const net = loopback();
    talk(net);
    const { timing, pass } = manualTiming();
    const reader = read(net, { timing, heartbeatMs: 1_000 });
    await settle();
    for (let beat = 0; beat < 6; beat += 1) {
      await pass(1_000);
      net.raw(": heartbeat\n\n");
    }
    const opened = () => net.requests.filter(({ path }) => path.endsWith("/entries")).length;
    expect(opened()).toBe(1);
    await pass(2_400);
    expect(opened()).toBe(1);
    await pass(5_000);
    expect(opened()).toBeGreaterThan(1);
    await reader.stop();
  });

  it("starts over from the state that a reset brings", async () => {
    const net = loopback();
    talk(net);
    const reader = read(net);
    await reader.caughtUp();
    net.act(token("x"));
    const state = toRows(net.desk.state);
    net.raw(
      `event: reset\nid: ${net.desk.state.head}\ndata: ${JSON.stringify({ offset: net.desk.state.head, state })}\n\n`,
    );
    await waitFor(() => expect(reader.kinds.filter((kind) => kind === "state")).toHaveLength(2));
    net.act(token("y"));
    await reader.caughtUp();
    expect(reader.rows()).toEqual(rowsOf(net));
    await reader.stop();
  });

  it("reads the state again where its cursor means nothing any more", async () => {
    const net = loopback();
    talk(net);
    const reader = read(net, { after: "other.00000000004" });
    await reader.caughtUp();
    expect(reader.kinds).toEqual(["state"]);
    expect(reader.rows()).toEqual(rowsOf(net));
    await reader.stop();
  });

  it.each([
    ["unauthenticated", 401],
    ["forbidden", 403],
    ["unknown_session", 404],
  ] as const)("ends with %s (%i), which trying again does not mend", async (code, _status) => {
    const net = loopback();
    net.faults.request = () => problem({ code, message: "No." });
    await expect(read(net).done).rejects.toMatchObject({ code });
    expect(net.requests).toHaveLength(1);
  });

  it("rejects with the signal's reason and leaves nothing open", async () => {
    const net = loopback();
    const reader = read(net);
    await reader.caughtUp();
    await reader.stop();
    await expect(reader.done).rejects.toBe("stopped");
    expect(net.open).toBe(0);
  });

  it("waits for the device to be online again", async () => {
    const net = loopback();
    const { timing, pass } = manualTiming();
    let back = () => {};
    let online = false;
    const links: Link[] = [];
    net.faults.request = () => (online ? undefined : new TypeError("no network"));
    const reader = read(net, {
      timing,
      backoff: { baseMs: 100, maxMs: 10_000 },
      connectivity: {
        online: () => online,
        onBack: (listener) => ((back = listener), () => {}),
      },
      onLink: (link) => links.push(link),
    });
    await pass(1_000);
    expect(links).toMatchObject([{ type: "offline" }]);
    online = true;
    back();
    await pass(0);
    expect(links.at(-1)).toEqual({ type: "connected" });
    await reader.stop();
  });

  it("gives what watching undisturbed gives, whatever the network does (property)", async () => {
    const fault = fc.constantFrom("none", "lose", "twice", "hold", "cut", "break", "refuse");
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 25 }), async (steps) => {
        const net = loopback();
        talk(net);
        const reader = read(net);
        const held: Frame[] = [];
        for (const [n, step] of steps.entries()) {
          net.faults.frame = (frame) => {
            if (step === "lose") return [];
            if (step === "hold") return (held.push(frame), []);
            if (step === "twice") return [frame, ...held.splice(0), frame];
            return [frame];
          };
          let refusals = step === "refuse" ? 2 : 0;
          net.faults.request = () => ((refusals -= 1) >= 0 ? new TypeError("down") : undefined);
          if (step === "cut" || step === "refuse") net.cut();
          if (step === "break") net.cut(new Error("broken"));
          net.act(token(`${n} `));
          if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        net.faults.frame = (frame) => [...held.splice(0).reverse(), frame];
        await waitFor(() => expect(net.open).toBe(1));
        net.act(token("end"));
        await reader.caughtUp();
        expect(reader.rows()).toEqual(rowsOf(net));
        await reader.stop();
      }),
      { numRuns: 60 },
    );
  });
});

/** A message whose run writes one text. */
function talk(net: Loopback): void {
  net.act((desk) => {
    const runId = desk.send("m1");
    desk.start(runId);
    desk.agent(runId).append({ type: "TEXT_MESSAGE_START", messageId: "t" });
  });
}

function token(delta: string): Parameters<Loopback["act"]>[0] {
  return (desk) =>
    desk.agent("run1").append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta });
}

function rowsOf(net: Loopback): unknown {
  return JSON.parse(JSON.stringify(toRows(net.desk.state)));
}

function offsetOf(net: Loopback, at: number): string {
  return net.desk.entries[at]?.offset ?? "";
}

/** Follows in the background, reducing what comes. */
function read(
  net: Loopback,
  options: Partial<FollowOptions> & {
    timing?: ReturnType<typeof manualTiming>["timing"];
    backoff?: { baseMs: number; maxMs: number };
  } = {},
) {
  const { timing, backoff = fast, ...rest } = options;
  const stopping = new AbortController();
  const transport = createTransport({
    url: net.url,
    fetch: net.fetch,
    backoff,
    ...(timing && { timing }),
  });
  const kinds: string[] = [];
  const offsets: string[] = [];
  let state: SessionState | undefined;
  async function run(): Promise<void> {
    for await (const followed of follow(transport, {
      session: "s1",
      signal: stopping.signal,
      ...rest,
    })) {
      kinds.push(followed.type);
      if (followed.type === "state") state = fromRows(followed.offset, followed.state);
      else if (state) {
        expect(followed.frame.after).toBe(state.head);
        reduceAll(state, followed.frame.entries);
      }
      offsets.push(state?.head ?? "");
    }
  }
  const done = run();
  done.catch(() => {});
  return {
    done,
    kinds,
    offsets,
    rows: () => state && toRows(state),
    caughtUp: () => waitFor(() => expect(state?.head).toBe(net.desk.state.head)),
    async stop() {
      stopping.abort("stopped");
      await done.catch(() => {});
    },
  };
}
