import type { Command } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { createOutbox } from "../../src/client/outbox.ts";
import { createTransport } from "../../src/wire/index.ts";
import { loopback, problem, type Arrived, type Loopback } from "../support/loopback.ts";
import { waitFor } from "../support/wait-for.ts";

describe("outbox", () => {
  it("keeps commands in order while the server is away, and sends each once", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    let away = 3;
    net.faults.request = () => ((away -= 1) >= 0 ? new TypeError("down") : undefined);
    const verdicts = await Promise.all([1, 2, 3, 4].map((n) => outbox.submit(message(n))));
    expect(verdicts.map(({ id }) => id)).toEqual(["c1", "c2", "c3", "c4"]);
    expect([...net.desk.state.messages.keys()]).toEqual(["m1", "m2", "m3", "m4"]);
    expect(outbox.size).toBe(0);
  });

  it("repeats a command whose verdict was lost under the same id and body, and it takes effect once", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    let lost = 2;
    net.faults.response = () => ((lost -= 1) >= 0 ? new TypeError("gone") : undefined);
    const verdict = await outbox.submit(message(1));
    expect(verdict).toMatchObject({ status: "applied", repeated: true });
    expect(net.desk.state.messages.size).toBe(1);
    expect(new Set(net.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it("sends what gathered while a request was under way as one batch", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    await Promise.all([1, 2, 3, 4, 5].map((n) => outbox.submit(message(n))));
    expect(net.requests.map(sizeOf)).toEqual([1, 4]);
  });

  it("gives each command its own verdict", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    const cancel: Command = { id: "x", type: "run.cancel", runId: "nothing" };
    const results = await Promise.allSettled([
      outbox.submit(message(1)),
      outbox.submit(cancel),
      outbox.submit(message(2)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({
      reason: { code: "unknown_run", cause: { id: "x", status: "rejected" } },
    });
  });

  it("sends commands one by one where a batch was refused as a whole", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    net.faults.request = (request) =>
      JSON.stringify(request.body).includes("m3")
        ? problem({ code: "too_large", message: "Too large." })
        : undefined;
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => outbox.submit(message(n))));
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
  });

  it("refuses more than it may hold", async () => {
    const net = loopback();
    const outbox = outboxOf(net, 2);
    net.faults.request = () => new TypeError("down");
    const waiting = [1, 2].map((n) => outbox.submit(message(n)));
    await expect(outbox.submit(message(3))).rejects.toMatchObject({ code: "overloaded" });
    delete net.faults.request;
    await expect(Promise.all(waiting)).resolves.toHaveLength(2);
  });

  it("forgets what is no longer wanted", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    net.faults.request = () => new TypeError("down");
    const controller = new AbortController();
    const [unwanted, wanted] = [
      outbox.submit(message(1), controller.signal),
      outbox.submit(message(2)),
    ];
    controller.abort("enough");
    await expect(unwanted).rejects.toBe("enough");
    delete net.faults.request;
    await wanted;
    expect([...net.desk.state.messages.keys()]).toEqual(["m2"]);
  });

  it("fails a command that is no JSON alone", async () => {
    const net = loopback();
    const outbox = outboxOf(net);
    const progress = 1n as unknown as null;
    await expect(
      outbox.submit({ id: "x", type: "call.progress", callId: "c", progress }),
    ).rejects.toThrow(TypeError);
    await expect(outbox.submit(message(1))).resolves.toMatchObject({ status: "applied" });
  });

  it("ends a long wait when the server is known to be back", async () => {
    const net = loopback();
    const outbox = outboxOf(net, 10, { baseMs: 3_600_000, maxMs: 3_600_000 });
    net.faults.request = () => new TypeError("down");
    const waiting = outbox.submit(message(1));
    await waitFor(() => expect(net.requests).toHaveLength(1));
    delete net.faults.request;
    await waitFor(async () => {
      outbox.kick();
      await expect(
        Promise.race([waiting, Promise.reject(new Error("not yet"))]),
      ).resolves.toBeDefined();
    });
  });
});

function outboxOf(net: Loopback, limit = 100, backoff = { baseMs: 1, maxMs: 2 }) {
  const transport = createTransport({ url: net.url, fetch: net.fetch, backoff });
  const outbox = createOutbox(transport, "s1", limit);
  outbox.start();
  return outbox;
}

function message(n: number): Command {
  return { id: `c${n}`, type: "message.send", messageId: `m${n}`, content: "hello" };
}

function sizeOf({ body }: Arrived): number {
  return (body as { commands: unknown[] }).commands.length;
}
