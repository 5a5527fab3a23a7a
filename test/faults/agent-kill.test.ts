import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callsOf, isCall, viewOf, type SessionState } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { ended, openLab, textOf } from "../../packages/sdk/test/support/lab.ts";
import { killRounds } from "./rounds.ts";

const PROGRAM = fileURLToPath(new URL("agent-process.ts", import.meta.url));
const EFFECTS = fileURLToPath(new URL("effect-process.ts", import.meta.url));
const TEXT = Array.from({ length: 100 }, (_, i) => `word${i}`).join(" ");
const DONE = expect.stringContaining('"done":true');

// A round kills in five ways, so a few make as many kills as the server's test has rounds.
const ROUNDS = Math.max(1, Math.round(killRounds() / 5));

describe.each(Array.from({ length: ROUNDS }, (_, round) => ({ round })))(
  "round $round",
  ({ round }) => {
    test("killed in the middle of a text: another worker says all of it, once", async () => {
      await using scene = await begin("talk");
      const { lab, session, runId } = scene;
      await lab.until(session, (state) => textOf(state, runId).length > 30 + 97 * round);
      await scene.kill("first");
      const done = await lab.until(session, ended(runId));
      expect(done.run.outcome).toBe("complete");
      expect(done.run.attempt).toBeGreaterThan(1);
      expect(shown(done.state, runId)).toEqual([TEXT]);
    });

    test("killed under a name that comes back: its runs go on before their lease ends", async () => {
      await using scene = await begin("talk", { leaseMs: 600_000, second: false });
      const { lab, session, runId } = scene;
      await lab.until(session, (state) => textOf(state, runId).length > 50 + 89 * round);
      await scene.kill("first");
      scene.start("first");
      const done = await lab.until(session, ended(runId));
      expect(done.run.outcome).toBe("complete");
      expect(done.run.attempt).toBeGreaterThan(1);
      expect(shown(done.state, runId)).toEqual([TEXT]);
    });

    test("killed in the middle of arguments: the call is withdrawn, and proposed anew", async () => {
      await using scene = await begin("long safe effect");
      const { lab, session, runId } = scene;
      const proposed = await lab.until(session, (state) =>
        callsOf(state, runId).find((call) => call.arguments.length > 40 + 83 * round),
      );
      await scene.kill("first");
      const { state, run } = await lab.until(session, ended(runId));
      expect(run.outcome).toBe("complete");
      expect(run.attempt).toBeGreaterThan(1);
      expect(state.calls.get(proposed.id)?.outcome).toBe("superseded");
      const [answered, ...others] = answeredCalls(state, runId);
      expect(others).toEqual([]);
      expect(await scene.effects()).toEqual([`${session}/${answered?.id}`]);
      expect(shown(state, runId)).toEqual(["I will.", "safe: ok", DONE]);
    });

    test("killed between an effect and its answer: reported as lost, not repeated", async () => {
      await using scene = await begin("unsafe effect", { hangs: true });
      const { lab, session, runId } = scene;
      const key = await scene.firstEffect();
      await scene.kill("first");
      const { state, run } = await lab.until(session, ended(runId));
      expect(run.outcome).toBe("complete");
      expect(run.attempt).toBeGreaterThan(1);
      const calls = callsOf(state, runId);
      expect(calls.map(({ id }) => `${session}/${id}`)).toEqual([key]);
      expect(calls[0]).toMatchObject({ outcome: "error", reason: "executor_lost" });
      expect(await scene.effects()).toEqual([key]);
      const told = expect.stringMatching(/outcome|unknown/);
      expect(shown(state, runId)).toEqual(["I will.", "unsafe: error executor_lost", told]);
    });

    test("killed after the effect of a tool that is safe to repeat: it runs again under the same key", async () => {
      await using scene = await begin("safe effect", { hangs: true });
      const { lab, session, runId } = scene;
      const key = await scene.firstEffect();
      await scene.kill("first");
      const { state, run } = await lab.until(session, ended(runId));
      expect(run.outcome).toBe("complete");
      expect(run.attempt).toBeGreaterThan(1);
      const [answered, ...others] = answeredCalls(state, runId);
      expect(others).toEqual([]);
      expect(answered).toMatchObject({ outcome: "ok" });
      expect(await scene.effects()).toEqual([key, key]);
      expect(shown(state, runId)).toEqual(["I will.", "safe: ok", DONE]);
    });
  },
);

/**
 * A server with one session, whose message a child called `first` works on at a pace that leaves time to kill it,
 * while one called `second` waits.
 */
async function begin(message: string, { leaseMs = 1_500, hangs = false, second = true } = {}) {
  const lab = await openLab({ leaseMs, claimLeaseMs: leaseMs, heartbeatMs: leaseMs / 4 });
  const folder = await mkdtemp(join(tmpdir(), "holdfast-agent-kill-"));
  const file = join(folder, "effects");
  await writeFile(file, "");
  const world = fork(EFFECTS, [file]);
  const [worldUrl] = (await once(world, "message")) as [string];
  const token = await lab.token();
  const children = new Map<string, ChildProcess>();

  function start(name: string, { pace = 0, hangs: doesHang = false } = {}): void {
    const args = [lab.url, token, name, worldUrl, String(pace), doesHang ? "hangs" : ""];
    children.set(
      name,
      spawn(process.execPath, ["--conditions=@holdfast/source", PROGRAM, ...args], {
        stdio: ["ignore", "inherit", "inherit"],
      }),
    );
  }

  async function kill(name: string): Promise<void> {
    const child = children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async function effects(): Promise<string[]> {
    return (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  }

  start("first", { pace: 10, hangs });
  const session = await lab.session();
  const runId = await lab.send(session, message);
  await lab.until(session, (state) => state.runs.get(runId)?.status === "active");
  if (second) start("second");
  return {
    lab,
    session,
    runId,
    start,
    /** `kill -9`, and waits until it is gone. */
    kill,
    /** The keys of the effects there were, in order. */
    effects,
    async firstEffect(): Promise<string> {
      await expect.poll(effects, { timeout: 20_000 }).toHaveLength(1);
      const [key = ""] = await effects();
      return key;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...children.keys()].map(kill));
      await lab[Symbol.asyncDispose]();
      world.kill("SIGKILL");
      await once(world, "exit");
      await rm(folder, { recursive: true });
    },
  };
}

function answeredCalls(state: SessionState, runId: string) {
  return callsOf(state, runId).filter(({ answer }) => answer !== undefined);
}

/** What a page shows of the run, part by part: its texts, and each call with its end. */
function shown(state: SessionState, runId: string): string[] {
  const node = viewOf(state).find(({ id }) => id === runId);
  if (node?.type !== "run") return [];
  return node.parts.flatMap((part) => {
    if (isCall(part)) return [`${part.name}: ${part.outcome} ${part.reason ?? ""}`.trim()];
    return part.kind === "text" ? [part.text] : [];
  });
}
