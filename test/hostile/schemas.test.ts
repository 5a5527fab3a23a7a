import { expect, test } from "vitest";
import { createValidator } from "../../packages/server/src/engine/validate.ts";
import { openHouse, proposal, type House } from "../cases/support.ts";

/** Whatever is cut off here has used the processor's time for long enough, which a busy machine does not give at once. */
const TIME = { timeout: 120_000 };

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

/** References that double at each step. */
function doubling(steps: number): Record<string, unknown> {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let n = 1; n <= steps; n += 1) {
    const $ref = `#/$defs/d${n - 1}`;
    $defs[`d${n}`] = { anyOf: [{ $ref }, { $ref }] };
  }
  return { $defs, $ref: `#/$defs/d${steps}` };
}

/** Schemas that are good, and arguments that make a check by them throw or go on for ever. */
const ENDLESS: Record<string, [parameters: Record<string, unknown>, text: string, why: RegExp]> = {
  "a pattern that backtracks": [
    { type: "string", pattern: "^(a+)+$" },
    JSON.stringify(`${"a".repeat(60)}!`),
    /longer than/,
  ],
  "a property's pattern that backtracks": [
    { patternProperties: { "^(a+)+$": { type: "string" } } },
    JSON.stringify({ [`${"a".repeat(60)}!`]: 1 }),
    /longer than/,
  ],
  "references that double": [doubling(40), "{}", /longer than/],
  "unique objects": [
    { type: "array", uniqueItems: true },
    JSON.stringify(Array.from({ length: 20_000 }, (_, a) => ({ a }))),
    /longer than/,
  ],
  "a schema that is itself": [{ $ref: "#" }, "1", /too deep/],
  "arguments as deep as their schema": [
    { type: "array", items: { $ref: "#" } },
    nested(100_000),
    /too deep/,
  ],
};

const UNUSABLE: Record<string, Record<string, unknown>> = {
  "an asynchronous schema": { $async: true, required: ["x"] },
  "one below": { properties: { a: { $async: true, required: ["x"] } } },
  "a reference to this machine": { $ref: "http://127.0.0.1:1/schema.json" },
  "a reference to a file": { $ref: "file:///etc/passwd" },
  "a pattern that is none": { pattern: "(" },
  "a type that is none": { type: "constructor" },
};

async function propose(house: House, name: string, text: string) {
  await house.send("go");
  const attempt = await house.attempt({ tools: [] });
  const callId = crypto.randomUUID();
  const started = performance.now();
  const verdict = await attempt.append(...proposal(callId, name, text));
  const took = performance.now() - started;
  expect(verdict).toMatchObject({ status: "applied" });
  await attempt.finish();
  return { call: (await house.state()).calls.get(callId), took };
}

test(
  "no schema and no arguments end the server, hold it up, or wedge a session",
  TIME,
  async () => {
    const logged: unknown[] = [];
    await using house = await openHouse({ log: (...words) => void logged.push(words) });
    for (const [label, parameters] of Object.entries(UNUSABLE)) {
      for (const bad of [{ parameters }, { result: parameters }]) {
        const tools = [{ name: "bad", ...bad }];
        const verdict = await house.bo.command(house.session, { type: "tools.advertise", tools });
        expect([label, verdict.error?.code]).toEqual([label, "invalid_request"]);
        const claim = { agent: "demo", worker: "w1", waitMs: 0, tools };
        expect((await house.agent.call("POST", "/v1/work/claim", claim)).status).toBe(400);
      }
    }
    for (const [label, [parameters, text, why]] of Object.entries(ENDLESS)) {
      const tools = [{ name: label, parameters }];
      const advertised = await house.bo.command(house.session, { type: "tools.advertise", tools });
      expect([label, advertised.status]).toEqual([label, "applied"]);
      const { call, took } = await propose(house, label, text);
      // The model reads why; nobody is asked to run it.
      expect([label, call?.status, call?.reason]).toEqual([label, "settled", "invalid_arguments"]);
      expect(call?.message, label).toMatch(why);
      expect(took, label).toBeLessThan(30_000); // a check that ends by itself takes minutes, or years
    }
    expect(logged).toEqual([]);
  },
);

test("a schema whose checks do not end is given up", TIME, () => {
  const { validate } = createValidator();
  const tool = { name: "t", parameters: { type: "string", pattern: "^(a+)+$" } };
  const bad = `${"a".repeat(60)}!`;
  expect(validate(tool, "aaa")).toBeUndefined();
  for (let time = 0; time < 3; time += 1) expect(validate(tool, bad)?.message).toMatch(/250 ms/);
  expect(validate(tool, "aaa")?.message).toMatch(/cannot be used/);
  // Another one, even of the same name, is not.
  expect(validate({ ...tool, parameters: { pattern: "^a$" } }, "a")).toBeUndefined();
});

test("a rule whose schema nobody can use is refused", async () => {
  await using house = await openHouse();
  for (const [label, when] of Object.entries(UNUSABLE)) {
    const policy = { tools: [{ tool: "job", approval: { when } }] };
    const set = await house.bo.command(house.session, { type: "policy.set", policy });
    expect([label, set.error?.code]).toEqual([label, "invalid_request"]);
    expect(set.error?.message).toMatch(/^The rule of tool job cannot be used: /);
    const made = await house.bo.call("PUT", `/v1/sessions/${crypto.randomUUID()}`, { policy });
    expect([label, made.status]).toEqual([label, 400]);
  }
});

test("a rule whose check does not end asks", TIME, async () => {
  await using house = await openHouse();
  for (const [label, [when, text]] of Object.entries(ENDLESS)) {
    const policy = { tools: [{ tool: "job", approval: { when } }] };
    const set = await house.bo.command(house.session, { type: "policy.set", policy });
    expect([label, set.status]).toEqual([label, "applied"]);
    await house.send("go", { whilePending: "abandon" });
    const attempt = await house.attempt({ tools: [{ name: "job" }] });
    const calls = proposal(crypto.randomUUID(), "job", text);
    const verdict = await attempt.append({ type: "round.open" }, ...calls, { type: "round.close" });
    expect([label, verdict.status, verdict.skipped]).toEqual([label, "applied", undefined]);
    await attempt.finish();
    const call = [...(await house.state()).calls.values()].at(-1);
    // What is too deep to be JSON for anybody is answered before somebody is asked.
    const isDeep = text.length > 100_000 && text.startsWith("[[");
    const [status, reason] = isDeep ? ["settled", "invalid_arguments"] : ["gated", undefined];
    expect([label, call?.status, call?.reason]).toEqual([label, status, reason]);
  }
});

test("an argument is what was sent, not what every object has", () => {
  const { validate } = createValidator();
  const inherited = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"];
  for (const $schema of [undefined, "http://json-schema.org/draft-07/schema#"]) {
    const dialect = $schema === undefined ? {} : { $schema };
    for (const name of inherited) {
      const properties = JSON.parse(`{${JSON.stringify(name)}:{"type":"number"}}`) as object;
      expect(validate({ name: "t", parameters: { ...dialect, properties } }, {})).toBeUndefined();
      const required = { name: "t", parameters: { ...dialect, required: [name] } };
      expect(validate(required, {})?.message).toContain(name);
      expect(validate(required, JSON.parse(`{${JSON.stringify(name)}:1}`))).toBeUndefined();
    }
  }
});
