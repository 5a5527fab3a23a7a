import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isCall, viewOf, type RunWake } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { ended, openLab } from "../../packages/sdk/test/support/lab.ts";
import { freePort, startServer } from "../support/server-process.ts";
import { devToken, wire } from "../support/wire.ts";

const PROGRAM = fileURLToPath(new URL("webhook-process.ts", import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

test.each([
  { step: "reached", began: 1, attempt: 1 },
  { step: "verified", began: 1, attempt: 1 },
  { step: "answered", began: 1, attempt: 1 },
  { step: "claimed", began: 1, attempt: 2 },
  { step: "running", began: 2, attempt: 2 },
  { step: "finished", began: 1, attempt: 1 },
])(
  "a receiver killed when it has $step: the run happens once",
  async ({ step, began, attempt }) => {
    await using it = await receiver();
    it.start(step);
    const session = await it.lab.session();
    const runId = await it.lab.send(session, "go");
    await it.killed();
    it.start();
    const { state, run } = await it.lab.until(session, ended(runId));
    expect(run).toMatchObject({ outcome: "complete", attempt });
    const node = viewOf(state).find(({ id }) => id === runId);
    const parts = node?.type === "run" ? node.parts : [];
    const texts = parts.filter((part) => !isCall(part) && part.kind === "text");
    expect(texts).toMatchObject([{ text: "said once" }]);
    expect((await it.lines()).length).toBe(began);
  },
);

test("a server killed with 500 wake-ups undelivered delivers all of them when it is back", async () => {
  const data = await mkdtemp(join(tmpdir(), "holdfast-webhooks-"));
  const delivered = new Set<string>();
  let answers = false;
  // Takes messages and says nothing, until it does.
  const hook = createServer((request, response) => {
    let text = "";
    request
      .setEncoding("utf8")
      .on("data", (part: string) => (text += part))
      .on("end", () => {
        if (!answers) return;
        const { session, wakeId } = JSON.parse(text) as RunWake;
        if (request.headers["webhook-id"] === wakeId) delivered.add(session);
        response.writeHead(204).end();
      });
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  const address = hook.address();
  if (typeof address !== "object" || !address) throw new Error("It does not listen.");
  const port = await freePort();
  const options = {
    data,
    port,
    args: ["--agent-webhook", `demo=http://127.0.0.1:${address.port}/hook`],
    env: { HOLDFAST_WEBHOOK_SECRET: SECRET },
  };
  try {
    const sessions = Array.from({ length: 500 }, (_, n) => `s${n}`);
    {
      await using server = await startServer(options);
      const ana = wire(server.url, await devToken(server.url, { name: "Ana" }));
      for (let from = 0; from < sessions.length; from += 50) {
        const some = sessions.slice(from, from + 50);
        await Promise.all(
          some.map(async (session) => {
            await ana.create(session);
            await ana.command(session, { type: "message.send", messageId: "m", content: "go" });
          }),
        );
      }
      await server.kill();
    }
    expect(delivered.size).toBe(0);
    answers = true;
    await using _ = await startServer(options);
    await expect.poll(() => delivered.size, { timeout: 90_000 }).toBe(500);
    expect([...delivered].toSorted()).toEqual(sessions.toSorted());
  } finally {
    hook.closeAllConnections();
    hook.close();
    await rm(data, { recursive: true, force: true });
  }
}, 180_000);

/** A real server in this process, and its agent's receiver in one that kills itself. */
async function receiver() {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "holdfast-webhook-"));
  const file = join(folder, "began");
  await writeFile(file, "");
  const lab = await openLab({
    leaseMs: 1_000,
    heartbeatMs: 250,
    webhooks: {
      agents: { demo: { url: `http://127.0.0.1:${port}/`, secret: SECRET } },
      baseMs: 50,
      maxMs: 200,
      startWithinMs: 500,
      maxTries: 1_000,
    },
  });
  const token = await lab.token();
  let child: ChildProcess | undefined;
  return {
    lab,
    start(step = "") {
      const args = [lab.url, token, String(port), SECRET, file, step];
      child = spawn(process.execPath, ["--conditions=@holdfast/source", PROGRAM, ...args], {
        stdio: ["ignore", "inherit", "inherit"],
      });
    },
    async killed() {
      if (child?.signalCode === null) await once(child, "exit");
      expect(child?.signalCode).toBe("SIGKILL");
    },
    lines: async () => (await readFile(file, "utf8")).split("\n").filter((line) => line !== ""),
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]();
      if (child?.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await rm(folder, { recursive: true });
    },
  };
}
