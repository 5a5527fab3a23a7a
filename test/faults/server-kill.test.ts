import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { freePort, startServer } from "../support/server-process.ts";
import { devToken, wire, type Wire, type Work } from "../support/wire.ts";
import { killRounds } from "./rounds.ts";

const WRITERS = 8;

/** One attempt that appends numbered events, and remembers which the server acknowledged. */
interface Writer {
  readonly session: string;
  readonly work: Work;
  acknowledged: number;
}

// Proved once: a server that acknowledges before COMMIT fails `check` within eight rounds.
test(
  "kill -9 of the server under load loses no acknowledged entry and repeats none",
  { timeout: 20_000 + killRounds() * 6_000 },
  async () => {
    const data = await mkdtemp(join(tmpdir(), "holdfast-kill-"));
    const port = await freePort();
    try {
      let server = await startServer({ data, port });
      const writers = await Promise.all(
        Array.from({ length: WRITERS }, (_, index) => begin(server.url, `kill-${index}`)),
      );
      for (let round = 0; round < killRounds(); round += 1) {
        const before = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
        const stop = new AbortController();
        const writing = Promise.all(
          writers.map((writer) => writeUntil(server.url, writer, stop.signal)),
        );
        // Not a fixed moment: somewhere in the load, another one each round.
        await acknowledged(writers, before + 40 + Math.floor(Math.random() * 400));
        await server.kill();
        stop.abort();
        await writing;
        server = await startServer({ data, port });
        for (const writer of writers) await check(server.url, writer);
      }
      await server.kill();
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  },
);

async function begin(url: string, session: string): Promise<Writer> {
  const user = wire(url, await devToken(url, { name: "Ana" }));
  const agent = session;
  await user.create(session, agent);
  await user.command(session, { type: "message.send", messageId: "m1", content: "count" });
  const work = await wire(url, await devToken(url, { agent })).claimWork({
    agent,
    worker: `w-${session}`,
  });
  if (!work) throw new Error("No work came.");
  return { session, work, acknowledged: 0 };
}

/** Appends until told to stop. A batch whose answer was lost is sent again under its number: it may count once only. */
async function writeUntil(url: string, writer: Writer, signal: AbortSignal): Promise<void> {
  const agent: Wire = wire(url, writer.work.token);
  while (!signal.aborted) {
    const seq = writer.acknowledged + 1;
    const { runId, attempt } = writer.work;
    try {
      const verdict = await agent.command(writer.session, {
        type: "run.append",
        runId,
        attempt,
        producer: "main",
        seq,
        items: [{ type: "CUSTOM", name: "count", value: seq }],
      });
      expect(verdict).toMatchObject({ status: "applied" });
      writer.acknowledged = seq;
    } catch (error) {
      if (error instanceof Error && error.name === "AssertionError") throw error;
      return; // the connection broke: the server is gone
    }
  }
}

async function check(url: string, writer: Writer): Promise<void> {
  const entries = await wire(url, await devToken(url, { name: "Ana" })).entries(writer.session);
  const counted = entries.flatMap((entry) =>
    entry.event.type === "CUSTOM" ? [entry.event.value as number] : [],
  );
  expect(counted).toEqual(counted.map((_, index) => index + 1));
  // Written but not acknowledged: at most the one batch that was on its way.
  expect(counted.length - writer.acknowledged).toBeOneOf([0, 1]);
  expect(isAscending(entries)).toBe(true);
}

function isAscending(entries: readonly Entry[]): boolean {
  return entries.every(
    (entry, index) => index === 0 || (entries[index - 1]?.offset ?? "") < entry.offset,
  );
}

async function acknowledged(writers: readonly Writer[], wanted: number): Promise<void> {
  while (writers.reduce((sum, writer) => sum + writer.acknowledged, 0) < wanted) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
