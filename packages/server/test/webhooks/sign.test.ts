import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { checkTarget } from "../../src/webhooks/options.ts";
import { signatureHeaders } from "../../src/webhooks/sign.ts";
import { SECRET } from "./scene.ts";

const target = (secret: string | readonly string[], url = "https://a.test/") =>
  checkTarget("Webhook of agent demo", { url, secret });

test("the example of Standard Webhooks is signed as it is there", () => {
  const message = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    at: 1_614_265_330_000,
    body: '{"test": 2432232314}',
  };
  expect(signatureHeaders(target(SECRET).keys, message)).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("with two secrets, a receiver that knows either takes the message", () => {
  const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const body = '{"a":"é"}';
  const headers = signatureHeaders(target([other, SECRET]).keys, {
    id: "m1",
    at: Date.now(),
    body,
  });
  for (const secret of [SECRET, other]) {
    expect(new Webhook(secret).verify(body, headers)).toEqual({ a: "é" });
  }
  const third = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  expect(() => new Webhook(third).verify(body, headers)).toThrow("No matching signature");
});

test.each([
  ["file:///etc/passwd", SECRET],
  ["ftp://a.test/", SECRET],
  ["javascript:alert(1)", SECRET],
  ["not a url", SECRET],
  ["https://user:pass@a.test/", SECRET],
  ["https://a.test/", "whsec_"],
  ["https://a.test/", "whsec_dG9vIHNob3J0"],
  ["https://a.test/", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  ["https://a.test/", []],
  ["https://a.test/", [SECRET, ""]],
])("a target %s with secret %j is refused, and the secret is not told", (url, secret) => {
  const check = () => target(secret, url);
  expect(check).toThrow(/^Webhook of agent demo: /);
  expect(check).not.toThrow(SECRET);
});
