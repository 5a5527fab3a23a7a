import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callsOf, type SessionState } from "@holdfast/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ended, openLab, textOf, type Lab } from "../../packages/sdk/test/support/lab.ts";
import { killRounds } from "./rounds.ts";

const LEASE_MS = 1_000;
const PROGRAM = fileURLToPath(new URL("agent-process.ts", import.meta.url));
const TEXT = Array.from({ length: 100 }, (_, i) => `word${i}`).join(" ");

let lab: Lab;
let folder: string;
let effects: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  lab = await openLab({ leaseMs: LEASE_MS, claimLeaseMs: LEASE_MS, heartbeatMs: LEASE_MS / 4 });
  folder = await mkdtemp(join(tmpdir(), "holdfast-agent-kill-"));
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  effects = join(folder, crypto.randomUUID());
  await writeFile(effects, "");
  return async () => {
    await Promise.all([...children].map(kill));
  };
});

describe.each(Array.from({ length: killRounds() }, (_, round) => ({ round })))(
  "round $round",
  ({ round }) => {
    test("killed in the middle of a text: another worker says all of it, once", async () => {
      const { session, runId, first } = await begin("talk");
      await lab.until(session, (state) => textOf(state, runId).length > 30 + 97 * round);
      await kill(first);
      await start("second");
      const done = await lab.until(session, ended(runId));
      expect(done.run).toMatchObject({ outcome: "complete", attempt: 2 });
      expect(done.text).toBe(TEXT);
    });

    test("killed under a name that comes back: its runs go on at once", async () => {
      const { session, runId, first, name } = await begin("talk");
      await lab.until(session, (state) => textOf(state, runId).length > 50 + 89 * round);
      await kill(first);
      await start(name);
      const done = await lab.until(session, ended(runId));
      expect(done.text).toBe(TEXT);
      expect(done.run).toMatchObject({ outcome: "complete", attempt: 2 });
    });

    test("killed in the middle of arguments: the call is withdrawn, and proposed anew", async () => {
      const { session, runId, first } = await begin("long safe effect");
      const proposed = await lab.until(session, (state) =>
        callsOf(state, runId).find((call) => call.arguments.length > 40 + 83 * round),
      );
      await kill(first);
      await start("second");
      const { state, run, text } = await lab.until(session, ended(runId));
      expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
      expect(state.calls.get(proposed.id)?.outcome).toBe("superseded");
      const [answered, ...others] = answeredCalls(state, runId);
      expect(others).toEqual([]);
      expect(await effectsHad()).toEqual([`${session}/${answered?.id}`]);
      expect(text.match(/I will\./g)).toHaveLength(1);
    });

    test("killed between an effect and its answer: reported as lost, not repeated", async () => {
      const { session, runId, first } = await begin("unsafe effect", { hangs: true });
      const key = await firstEffect();
      await kill(first);
      await start("second");
      const { state, run } = await lab.until(session, ended(runId));
      expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
      const calls = callsOf(state, runId);
      expect(calls.map(({ id }) => `${session}/${id}`)).toEqual([key]);
      expect(calls[0]).toMatchObject({ outcome: "error", reason: "executor_lost" });
      expect(await effectsHad()).toEqual([key]);
    });

    test("killed between the effect and the answer of a tool that is safe to repeat: it runs again under the same key", async () => {
      const { session, runId, first } = await begin("safe effect", { hangs: true });
      const key = await firstEffect();
      await kill(first);
      await start("second");
      const { state, run } = await lab.until(session, ended(runId));
      expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
      const [answered, ...others] = answeredCalls(state, runId);
      expect(others).toEqual([]);
      expect(answered).toMatchObject({ outcome: "ok" });
      expect(await effectsHad()).toEqual([key, key]);
    });
  },
);

/** A session whose message is being worked on by a child of its own. */
async function begin(message: string, { hangs = false } = {}) {
  const session = await lab.session();
  const name = crypto.randomUUID();
  const first = await start(name, { pace: 10, hangs });
  const runId = await lab.send(session, message);
  return { session, runId, first, name };
}

async function start(name: string, { pace = 0, hangs = false } = {}): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=@holdfast/source",
      PROGRAM,
      lab.url,
      await lab.token(),
      name,
      effects,
      String(pace),
      hangs ? "hangs" : "",
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  children.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function effectsHad(): Promise<string[]> {
  return (await readFile(effects, "utf8")).split("\n").filter((line) => line !== "");
}

async function firstEffect(): Promise<string> {
  await expect.poll(effectsHad, { timeout: 20_000 }).toHaveLength(1);
  const [key = ""] = await effectsHad();
  return key;
}

function answeredCalls(state: SessionState, runId: string) {
  return callsOf(state, runId).filter(({ answer }) => answer !== undefined);
}
