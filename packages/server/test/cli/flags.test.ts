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

test.each([
  [["demo"], { defaultAgent: "demo" }],
  [["http://a.test/"], { agents: { default: { url: "http://a.test/" } } }],
  [
    ["demo", "http://a.test/"],
    { defaultAgent: "demo", agents: { demo: { url: "http://a.test/" } } },
  ],
  [
    ["demo=http://a.test/?x=y"],
    { defaultAgent: "demo", agents: { demo: { url: "http://a.test/?x=y" } } },
  ],
  [
    ["a=http://a.test/", "b=http://b.test/"],
    { agents: { a: { url: "http://a.test/" }, b: { url: "http://b.test/" } } },
  ],
])("--agent %j names agents and where they are", (given, expected) => {
  const { defaultAgent, agents } = readFlags(given.map((text) => `--agent=${text}`));
  expect({ ...(defaultAgent && { defaultAgent }), ...(agents && { agents }) }).toEqual(expected);
});

test.each([
  [["a", "b"], /^--agent may name one default agent/],
  [["http://a.test/", "http://b.test/"], /^--agent may name one default agent/],
  [["a=http://a.test/", "a=http://b.test/"], /^--agent names a twice/],
  [["a="], /^--agent must be a name, a URL or <name>=<url>/],
])("--agent %j is refused", (given, words) => {
  expect(() => readFlags(given.map((text) => `--agent=${text}`))).toThrow(words);
});

test("what agents are to trust comes from the environment: for all, or for one", () => {
  vi.stubEnv("HOLDFAST_AGENT_AUTHORIZATION", "Bearer all");
  vi.stubEnv("HOLDFAST_AGENT_AUTHORIZATION_MY_AGENT", "Bearer mine");
  const { agents } = readFlags(["--agent=my-agent=http://a.test/", "--agent=b=http://b.test/"]);
  expect(agents?.["my-agent"]?.headers).toEqual({ authorization: "Bearer mine" });
  expect(agents?.["b"]?.headers).toEqual({ authorization: "Bearer all" });
});
