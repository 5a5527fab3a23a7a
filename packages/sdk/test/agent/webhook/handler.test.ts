import { attachRun, webhookHandler, type WebhookHandlerOptions } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import type { ModelMessage, UIMessageChunk } from "ai";
import { expect, test, vi } from "vitest";
import { ended, openLab } from "../../support/lab.ts";
import { openReceiver } from "../../support/receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;

type Options = WebhookHandlerOptions<UIMessageChunk, ModelMessage[], Record<never, never>>;

const text = (messageId: string, delta: string) =>
  [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ] as const;

/** A real server that tells a real receiver, both on loopback. */
async function open(webhooks = {}, lease = {}) {
  const receiver = await openReceiver();
  const lab = await openLab({
    webhooks: {
      agents: { demo: { url: receiver.url, secret: SECRET } },
      baseMs: 10,
      ...webhooks,
    },
    ...lease,
  });
  const errors: unknown[] = [];
  return {
    lab,
    receiver,
    errors,
    handler: (options: Pick<Options, "handler"> & Partial<Options>) =>
      webhookHandler({
        url: lab.url,
        token: () => lab.token(),
        agent: "demo",
        secret: SECRET,
        codec: aiSdk,
        onError: (error: unknown) => errors.push(error),
        backoff: { baseMs: 5, maxMs: 50 },
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

test("a run is worked on by a process that was not there before, which answers at once", async () => {
  await using it = await open();
  const kept: Promise<void>[] = [];
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  const handle = it.handler({
    waitUntil: (done) => kept.push(done),
    async handler(run) {
      await going;
      await run.append(text("a", "hello"));
    },
  });
  const answers: number[] = [];
  it.receiver.handle = async (request) => {
    const response = await handle(request);
    answers.push(response.status);
    return response;
  };
  const session = await it.lab.session();
  const runId = await it.lab.send(session, "hi");
  await it.lab.until(session, (state) => state.runs.get(runId)?.status === "active");
  await vi.waitFor(() => expect(answers).toEqual([204]), 15_000);
  go();
  const done = await it.lab.until(session, ended(runId));
  expect(done).toMatchObject({ text: "hello", run: { outcome: "complete", attempt: 1 } });
  expect(kept).toHaveLength(1);
  await Promise.all(kept);
  expect(it.errors).toEqual([]);
});

test("where nothing keeps the process, the answer waits for the attempt", async () => {
  await using it = await open();
  const handle = it.handler({ handler: (run) => run.append(text("a", "hello")).then(() => {}) });
  let session = "";
  let runId = "";
  const atAnswer = Promise.withResolvers<string | undefined>();
  it.receiver.handle = async (request) => {
    const response = await handle(request);
    const { run } = await it.lab.until(session, ended(runId));
    atAnswer.resolve(run.outcome);
    return response;
  };
  session = await it.lab.session();
  runId = await it.lab.send(session, "hi");
  expect(await atAnswer.promise).toBe("complete");
});

test("a platform's own context keeps the process", async () => {
  await using it = await open();
  const handle = it.handler({ handler: async () => {} });
  // As Cloudflare's, which must be called on itself.
  class Context {
    readonly kept: Promise<void>[] = [];
    waitUntil(done: Promise<void>) {
      this.kept.push(done);
    }
  }
  const context = new Context();
  it.receiver.handle = (request) => handle(request, context);
  const session = await it.lab.session();
  const { run } = await it.lab.until(session, ended(await it.lab.send(session, "hi")));
  expect(run.outcome).toBe("complete");
  expect(context.kept).toHaveLength(1);
});

test("a message that comes many times at once, and again later, is one attempt", async () => {
  await using it = await open();
  let began = 0;
  const handle = it.handler({
    async handler(run) {
      began += 1;
      await run.append(text(`a${began}`, "once"));
    },
  });
  let kept: Request | undefined;
  const answers: number[] = [];
  it.receiver.handle = async (request) => {
    const body = await request.text();
    const same = () =>
      new Request(request.url, { method: "POST", headers: new Headers(request.headers), body });
    kept = same();
    const responses = await Promise.all([1, 2, 3, 4, 5].map(() => handle(same())));
    answers.push(...responses.map(({ status }) => status));
    return responses[0] ?? Response.error();
  };
  const session = await it.lab.session();
  const done = await it.lab.until(session, ended(await it.lab.send(session, "hi")));
  expect(done).toMatchObject({ text: "once", run: { attempt: 1 } });
  await vi.waitFor(() => expect(answers).toEqual([204, 204, 204, 204, 204]), 15_000);
  // Long after.
  expect(kept && (await handle(kept)).status).toBe(204);
  expect(began).toBe(1);
  expect(it.errors).toEqual([]);
});

test("what is not the server's word to this agent does nothing, and says why", async () => {
  await using it = await open({ agents: {} });
  const handler = vi.fn(async () => {});
  const handle = it.handler({ handler });
  const post = (body: string) => handle(new Request("http://a.test/", { method: "POST", body }));
  const answer = await post('{"type":"run.wake","session":"s","runId":"r","wakeId":"w"}');
  expect(answer.status).toBe(401);
  expect(await answer.text()).toBe("The message is not the server's: it has no signature.");
  expect((await handle(new Request("http://a.test/"))).status).toBe(401);
  expect((await post("x".repeat(100_000))).status).toBe(413);
  expect(handler).not.toHaveBeenCalled();
  expect(() => it.handler({ handler, secret: "s3cret" })).toThrow(RangeError);
});

test("work of another agent is refused, and dead on the server", async () => {
  await using it = await open();
  const handle = it.handler({ handler: async () => {}, agent: "other" });
  it.receiver.handle = (request) => handle(request);
  const session = await it.lab.session();
  await it.lab.send(session, "hi");
  await vi.waitFor(async () => {
    const response = await fetch(`${it.lab.url}/v1/webhooks/dead`, {
      headers: { authorization: `Bearer ${await it.lab.mint("user:ops")}` },
    });
    expect(await response.json()).toMatchObject({ dead: [{ session, error: "answered 400" }] });
  }, 15_000);
});

test("a run that outlives its process is detached, and goes on elsewhere", async () => {
  await using it = await open({}, { leaseMs: 400, heartbeatMs: 100 });
  const name = Promise.withResolvers<{ token: string; attempt: number }>();
  const kept: Promise<void>[] = [];
  const handle = it.handler({
    waitUntil: (done) => kept.push(done),
    async handler(run) {
      await run.append(text("a", "before"));
      await run.detach(Date.now() + 60_000);
      name.resolve({ token: run.token, attempt: run.attempt });
    },
  });
  it.receiver.handle = (request) => handle(request);
  const session = await it.lab.session();
  const runId = await it.lab.send(session, "go");
  const { token, attempt } = await name.promise;
  await Promise.all(kept); // the first process may end here
  {
    const where = { url: it.lab.url, token, session, runId, attempt, codec: aiSdk };
    await using other = await attachRun(where);
    await other.append(text("b", "after"));
    await other.finish();
  }
  const done = await it.lab.until(session, ended(runId));
  expect(done).toMatchObject({ text: "before\nafter", run: { attempt: 1, losses: 0 } });
  expect(new Set(it.receiver.ids).size).toBe(1);
  expect(it.errors).toEqual([]);
});

test("where the server cannot be asked, it is told so while it waits for the answer", async () => {
  await using it = await open();
  const down: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));
  const handler = vi.fn(async () => {});
  const unable = it.handler({ handler, fetch: down, backoff: { baseMs: 1, maxMs: 1 } });
  const able = it.handler({ handler });
  const answers: number[] = [];
  it.receiver.handle = async (request) => {
    const response = await (answers.length === 0 ? unable : able)(request);
    answers.push(response.status);
    return response;
  };
  const session = await it.lab.session();
  const { run } = await it.lab.until(session, ended(await it.lab.send(session, "hi")));
  expect(run.outcome).toBe("complete");
  await vi.waitFor(() => expect(answers).toEqual([503, 204]), 15_000);
  expect(handler).toHaveBeenCalledTimes(1);
});
