import { afterEach, expect, test, vi } from "vitest";
import { readFlags } from "../../src/cli/flags.ts";

const [FIRST, SECOND] = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString("base64")}`);

afterEach(() => vi.unstubAllEnvs());

test("webhooks are addresses from flags, and secrets from the environment", () => {
  expect(readFlags([]).webhooks).toBeUndefined();
  vi.stubEnv("HOLDFAST_WEBHOOK_SECRET", ` ${FIRST}  ${SECOND}\n`);
  const secret = [FIRST, SECOND];
  const { webhooks } = readFlags([
    "--agent-webhook=demo=https://a.test/?x=y",
    "--agent-webhook=__proto__=https://b.test/",
    "--notify-webhook=https://c.test/",
  ]);
  expect(Object.entries(webhooks?.agents ?? {})).toEqual([
    ["demo", { url: "https://a.test/?x=y", secret }],
    ["__proto__", { url: "https://b.test/", secret }],
  ]);
  expect(webhooks?.notify).toEqual({ url: "https://c.test/", secret });
});

test.each(["demo", "=https://a.test/", "demo="])("--agent-webhook %s is refused", (text) => {
  vi.stubEnv("HOLDFAST_WEBHOOK_SECRET", FIRST);
  expect(() => readFlags([`--agent-webhook=${text}`])).toThrow(/^--agent-webhook must be/);
});

test("webhooks without a secret are refused", () => {
  vi.stubEnv("HOLDFAST_WEBHOOK_SECRET", "");
  expect(() => readFlags(["--notify-webhook", "https://c.test/"])).toThrow(
    "HOLDFAST_WEBHOOK_SECRET is not set",
  );
});
