import { readWebhook } from "@holdfast/sdk/agent";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NOW = 1_700_000_000_000;
const WAKE = { type: "run.wake", session: "s", runId: "r", wakeId: "w", agent: "é", at: 1 };

interface Change {
  readonly body?: string | Uint8Array;
  readonly at?: number;
  readonly secrets?: readonly string[];
  readonly headers?: Record<string, string | undefined>;
}

/** A message signed by the published library, and what became of it on the way. */
function message({ body, at = NOW, secrets = [SECRET], headers = {} }: Change = {}): Request {
  const text = JSON.stringify(WAKE);
  const signed = secrets.map((secret) => new Webhook(secret).sign("w", new Date(at), text));
  const all: Record<string, string | undefined> = {
    "webhook-id": "w",
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": signed.join(" "),
    ...headers,
  };
  const kept = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  return new Request("http://a.test/", {
    method: "POST",
    headers: kept,
    body: (body ?? text) as BodyInit,
  });
}

const read = (request: Request, secret: string | readonly string[] = SECRET) =>
  readWebhook(request, { secret, timing: { now: () => NOW } });

test("what the published library signed is read", async () => {
  expect(await read(message())).toEqual(WAKE);
});

test("the example of Standard Webhooks is the sender's, though of no kind that is known here", async () => {
  const request = new Request("http://a.test/", {
    method: "POST",
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: '{"test": 2432232314}',
  });
  const timing = { now: () => 1_614_265_330_000 };
  await expect(readWebhook(request, { secret: SECRET, timing })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("while secrets are changed, either side may be first", async () => {
  expect(await read(message({ secrets: [OTHER, SECRET] }))).toEqual(WAKE);
  expect(await read(message({ secrets: [OTHER] }), [SECRET, OTHER])).toEqual(WAKE);
});

test("a clock may be five minutes off, and a message five minutes late", async () => {
  expect(await read(message({ at: NOW - 300_000 }))).toEqual(WAKE);
  expect(await read(message({ at: NOW + 300_000 }))).toEqual(WAKE);
});

const good = message().headers.get("webhook-signature") ?? "";
test.each<[string, Change]>([
  ["another secret's", { secrets: [OTHER] }],
  ["other words", { body: JSON.stringify({ ...WAKE, runId: "r2" }) }],
  [
    "the same words otherwise encoded",
    { body: Uint8Array.from(Buffer.from(JSON.stringify(WAKE), "latin1")) },
  ],
  ["no words", { body: "" }],
  ["another id", { headers: { "webhook-id": "w2" } }],
  ["another time", { headers: { "webhook-timestamp": String(NOW / 1000 + 1) } }],
  ["no time", { headers: { "webhook-timestamp": "now" } }],
  ["a time that is no whole number", { headers: { "webhook-timestamp": `${NOW / 1000}.5` } }],
  ["a replay of an old message", { at: NOW - 301_000 }],
  ["a message of the future", { at: NOW + 301_000 }],
  ["no id", { headers: { "webhook-id": undefined } }],
  ["no signature", { headers: { "webhook-signature": undefined } }],
  ["an empty signature", { headers: { "webhook-signature": "v1," } }],
  ["no base64", { headers: { "webhook-signature": "v1,%%%" } }],
  ["another version", { headers: { "webhook-signature": good.replace("v1,", "v1a,") } }],
  ["a signature cut short", { headers: { "webhook-signature": good.slice(0, -4) } }],
  [
    "a signature behind many",
    { headers: { "webhook-signature": `${"v1,AAAA ".repeat(100)}${good}` } },
  ],
])("%s: refused", async (_, change) => {
  await expect(read(message(change))).rejects.toMatchObject({
    code: "unauthenticated",
    status: 401,
  });
});

test("more than a message has is not read to its end", async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(16 * 1024));
    },
  });
  const request = new Request("http://a.test/", {
    method: "POST",
    body,
    duplex: "half",
  } as RequestInit);
  await expect(read(request)).rejects.toMatchObject({ code: "too_large", status: 413 });
  expect(pulled).toBeLessThan(10);
});

test.each(["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_dG9vIHNob3J0"])(
  "%j is no secret, and nothing holds under it",
  async (secret) => {
    await expect(read(message(), secret)).rejects.toThrow(RangeError);
  },
);
