import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createServer, memoryStorage } from "../../src/index.ts";
import { openSqlite } from "../../src/storage/sqlite/open.ts";
import { endpoint, text } from "../upstream/endpoint.ts";
import { hashFiles } from "../storage/directory.ts";
import { until } from "../support/clock.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

let directory: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "holdfast-cli-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** Runs the program; `output` grows with what it prints. */
function holdfast(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--conditions=@holdfast/source", MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const run = { child, output: "", ended: once(child, "close") };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (run.output += text));
  }
  return run;
}

async function listening(run: ReturnType<typeof holdfast>): Promise<string> {
  await until("it listens", () => run.output.includes("http://") || run.child.exitCode !== null);
  const url = /http:\/\/\S+/.exec(run.output)?.[0];
  if (url === undefined) throw new Error(run.output);
  return url;
}

const dev = () => holdfast(["dev", "--data", directory, "--port", "0"]);

test("holdfast dev keeps sessions and tokens over a SIGTERM, which it obeys at once", async () => {
  const first = dev();
  const url = await listening(first);
  const given = await fetch(`${url}/v1/dev/token`, { method: "POST", body: '{"name":"Ana"}' });
  const { token } = (await given.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  const made = await fetch(`${url}/v1/sessions/s`, { method: "PUT", headers });
  expect(made.status).toBe(201);
  expect((await stat(join(directory, "dev-secret"))).mode & 0o777).toBe(0o600);
  // A stream that waits does not hold it up.
  const stream = await fetch(`${url}/v1/sessions/s/entries`, {
    headers: { ...headers, accept: "text/event-stream" },
  });
  first.child.kill("SIGTERM");
  expect(await first.ended).toEqual([0, null]);
  expect(await stream.text()).toContain("session.created");

  const again = await listening(dev());
  const found = await fetch(`${again}/v1/sessions/s`, { headers });
  expect([found.status, await found.json()]).toEqual([200, await made.json()]);
});

test("holdfast dev --agent makes an AG-UI endpoint the agent of sessions that name none", async () => {
  await using agent = await endpoint((asked) => asked.start(...text("t", "Hello.")).finish());
  const run = holdfast(["dev", "--data", directory, "--port", "0", "--agent", agent.url], {
    HOLDFAST_AGENT_AUTHORIZATION: "Bearer key",
  });
  const url = await listening(run);
  const given = await fetch(`${url}/v1/dev/token`, { method: "POST", body: '{"name":"Ana"}' });
  const { token } = (await given.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${url}/v1/sessions/s`, { method: "PUT", headers });
  const message = { id: "c", type: "message.send", messageId: "m", content: "Hi" };
  const body = JSON.stringify(message);
  await fetch(`${url}/v1/sessions/s/commands`, { method: "POST", headers, body });
  await until("the answer", async () => {
    const state = await fetch(`${url}/v1/sessions/s/state`, { headers });
    return (await state.text()).includes('"outcome":"complete"');
  });
  expect(agent.asked[0]?.headers["authorization"]).toBe("Bearer key");
  run.child.kill("SIGTERM");
  expect(await run.ended).toEqual([0, null]);
});

test("a directory in use is refused in one line", async () => {
  await listening(dev());
  const second = dev();
  expect(await second.ended).toEqual([1, null]);
  expect(second.output).toMatch(/^holdfast: .* is in use by another .*\n$/);
});

test.each([
  ["of another version", "holdfast.db", "\0\0\0\t", 60, /has format 9; .* Run the version that/],
  ["that is damaged", "holdfast.db", "nonsense", 0, /is damaged: .* Restore it/],
  ["whose secret is damaged", "dev-secret", "short", 0, /dev-secret is damaged: delete it/],
] as const)("a directory %s is refused in one line, and left as it was", async (...given) => {
  const [, file, text, position, words] = given;
  await (await openSqlite({ directory }))[Symbol.asyncDispose]();
  const path = join(directory, file);
  const target = openSync(path, file === "dev-secret" ? "w" : "r+");
  writeSync(target, text, position);
  closeSync(target);
  const before = hashFiles(directory);
  const run = dev();
  expect(await run.ended).toEqual([1, null]);
  expect(run.output).toMatch(/^holdfast: .*\n$/);
  expect(run.output).toMatch(words);
  expect(hashFiles(directory)).toEqual(before);
});

test("holdfast token prints a token that the server with the same secret takes", async () => {
  const key = { HOLDFAST_SECRET: "s".repeat(32) };
  const grants = ["--grant", "team-*=read,send", "--grant", "team-a=admin"];
  const claims = ["--issuer", "us", "--audience", "them"];
  const minting = holdfast(
    ["token", "--sub", "user:ana", ...grants, "--ttl", "15m", ...claims],
    key,
  );
  expect(await minting.ended).toEqual([0, null]);
  const token = minting.output.trim();
  const { exp = 0, iat = 0, jti, ...rest } = decodeJwt(token);
  expect([exp - iat, typeof jti]).toEqual([900, "string"]);
  expect(rest).toEqual({
    sub: "user:ana",
    iss: "us",
    aud: "them",
    grants: [
      { sessions: "team-*", verbs: ["read", "send"] },
      { sessions: "team-a", verbs: ["admin"] },
    ],
  });

  const page = "https://app.example";
  const serve = ["serve", "--data", directory, "--port", "0", ...claims, "--cors-origin", page];
  const url = await listening(holdfast(serve, key));
  const put = (session: string) =>
    fetch(`${url}/v1/sessions/${session}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, origin: page },
    });
  const made = await put("team-b");
  expect([made.status, made.headers.get("access-control-allow-origin")]).toEqual([201, page]);
  expect((await put("others")).status).toBe(403);
});

test("holdfast serve takes tokens of others by their public keys, and keeps a secret for its own", async () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }) as string;
  const minting = holdfast(["token", "--sub", "user:ana", "--grant", "*=read,send"], {
    HOLDFAST_PRIVATE_KEY: privateKey,
  });
  expect(await minting.ended).toEqual([0, null]);
  const serve = ["serve", "--data", directory, "--port", "0"];
  const url = await listening(
    holdfast(serve, { HOLDFAST_SECRET: "", HOLDFAST_PUBLIC_KEYS: publicKey }),
  );
  const headers = { authorization: `Bearer ${minting.output.trim()}` };
  expect((await fetch(`${url}/v1/sessions/s`, { method: "PUT", headers })).status).toBe(201);
  expect((await stat(join(directory, "server-secret"))).mode & 0o777).toBe(0o600);
});

test("holdfast serve needs a key, and then gives no development tokens", async () => {
  const serve = ["serve", "--data", directory, "--port", "0"];
  const bare = holdfast(serve, { HOLDFAST_SECRET: "" });
  expect(await bare.ended).toEqual([1, null]);
  expect(bare.output).toContain("holdfast: ");

  const url = await listening(holdfast(serve, { HOLDFAST_SECRET: "s".repeat(32) }));
  const refused = await fetch(`${url}/v1/dev/token`, { method: "POST", body: '{"name":"Ana"}' });
  expect(refused.status).toBe(404);
});

test("holdfast audit checks an exported file, offline", async () => {
  const HOLDFAST_SECRET = "s".repeat(32);
  const secret = Buffer.from(HOLDFAST_SECRET);
  const file = join(directory, "audit.jsonl");
  {
    await using server = createServer({ storage: memoryStorage(), secret });
    const headers = { authorization: `Bearer ${await server.mint("user:ana")}` };
    const ask = (method: string, path: string) =>
      server.fetch(new Request(`http://host/v1/sessions/s${path}`, { method, headers }));
    await ask("PUT", "");
    await writeFile(file, await (await ask("GET", "/audit/export")).text());
  }
  const audit = async (args: readonly string[], secretGiven = "") => {
    const run = holdfast(["audit", ...args], { HOLDFAST_SECRET: secretGiven });
    const [code] = (await run.ended) as [number];
    return { code, output: run.output.trim() };
  };
  const key = (await audit(["key"], HOLDFAST_SECRET)).output;
  expect(await audit(["verify", file], HOLDFAST_SECRET)).toMatchObject({ code: 0 });
  const { code, output } = await audit(["verify", file, "--key", key]);
  expect([code, output]).toEqual([0, expect.stringContaining('session "s" up to')]);
  expect(await audit(["verify", file], "t".repeat(32))).toMatchObject({ code: 1 });
  expect((await audit(["verify", file])).output).toContain("give --key");
  await writeFile(file, (await readFile(file, "utf8")).replace("user:ana", "user:bo"));
  expect(await audit(["verify", file, "--key", key])).toEqual({
    code: 1,
    output: `${file} is broken at line 2. Record 1 was changed.`,
  });
});

test.each([
  [["fly"], "There is no command fly"],
  [["dev", "--port", "http"], "--port must be a whole number"],
  [["dev", "--lease", "0"], "--lease must be a whole number"],
  [["dev", "--colour"], "--colour"],
  [["dev", "--data", "DIRECTORY", "--cors-origin", "*"], "An origin is like"],
  [["token", "--sub", "ana", "--grant", "*=read"], "A principal is user:<name>"],
  [["token", "--grant", "*=read"], "--sub says whom"],
  [["token", "--sub", "user:ana", "--grant", "*"], "--grant must be like"],
  [["token", "--sub", "user:ana", "--grant", "*=fly"], '"fly" is no verb'],
  [["token", "--sub", "user:ana", "--ttl", "soon"], "--ttl must be like"],
  [["token", "--sub", "user:ana", "--ttl", "400d"], "366 days"],
  [["audit"], "holdfast audit verify <file>"],
])("%j is refused in words", async (args, words) => {
  const run = holdfast(
    args.map((it) => (it === "DIRECTORY" ? directory : it)),
    { HOLDFAST_SECRET: "s".repeat(32) },
  );
  expect(await run.ended).toEqual([1, null]);
  expect(run.output).toContain(words);
});
