import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { canonical } from "@holdfast/protocol";
import { hashOf } from "../../src/audit/chain.ts";
import { signCheckpoint, type Checkpoint } from "../../src/audit/checkpoint.ts";
import { auditKey } from "../../src/audit/key.ts";
import { linesOf } from "../../src/audit/lines.ts";
import { verifyAudit } from "../../src/audit/verify.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { AUDIT_SECRET, startEngine } from "../support/engine.ts";
import { happenings, linesIn, play, type Happening } from "./history.ts";

const keys = [auditKey(AUDIT_SECRET).publicKey];

const FULL: readonly Happening[] = [
  { type: "call", text: "é\ufffd" },
  { type: "export" },
  { type: "answer", call: 0, text: "42" },
  { type: "refused" },
  { type: "answer", call: 0, text: "late" },
  { type: "policy" },
  { type: "export" },
  { type: "tokens", text: "tokens" },
  { type: "refused" },
  { type: "cancel", call: 0, text: "" },
  { type: "say", text: "the end" },
];

async function exportOf(all: readonly Happening[], after?: number): Promise<string[]> {
  await using engine = startEngine();
  await play(engine, all);
  return await linesIn(engine, after);
}

const findingOf = (lines: readonly string[]) => verifyAudit(lines, { keys });
const isOk = async (lines: readonly string[]) => (await findingOf(lines)).ok;

describe("an export", () => {
  test("of any history is as it was signed, and a change of any line is found", async () => {
    await fc.assert(
      fc.asyncProperty(happenings, fc.nat(), fc.nat(), fc.nat(), async (all, a, b, c) => {
        const lines = await exportOf(all);
        expect(await findingOf(lines)).toMatchObject({ ok: true, withoutContent: 0 });
        const line = a % lines.length;
        const text = lines[line] ?? "";
        const at = b % text.length;
        const other = String.fromCharCode(32 + (c % 95));
        if (other !== text[at]) {
          expect(await isOk(lines.with(line, text.slice(0, at) + other + text.slice(at + 1)))).toBe(
            false,
          );
        }
        expect(await isOk(lines.toSpliced(line, 1))).toBe(false);
        expect(await isOk(lines.toSpliced(b % (lines.length + 1), 0, text))).toBe(false);
        const to = b % lines.length;
        if (to !== line) {
          const moved = lines.toSpliced(line, 1).toSpliced(to, 0, text);
          expect(await isOk(moved)).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("shows every single byte that was changed", { timeout: 60_000 }, async () => {
    const lines = await exportOf([
      { type: "say", text: "é\ufffd" },
      { type: "export" },
      { type: "refused" },
    ]);
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    const found = (changed: Uint8Array) =>
      verifyAudit(linesOf([changed]), { keys }).catch(() => ({ ok: false }));
    expect((await found(bytes)).ok).toBe(true);
    const unseen: number[] = [];
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      if ((await found(changed)).ok) unseen.push(at);
    }
    expect(unseen).toEqual([]);
  });

  test("holds every kind of line", async () => {
    const kinds = (await exportOf(FULL)).map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.join(" ")).toMatch(
      /^session (act )+checkpoint (act )+checkpoint (act )+checkpoint (refusal )+end$/,
    );
  });

  test("has its checkpoints in the order they were signed in, of one record too", async () => {
    const lines = await exportOf([
      { type: "say", text: "a" },
      { type: "export" },
      { type: "refused" },
      { type: "export" },
    ]);
    const [first = 0, second = 0] = lines.flatMap((line, at) =>
      line.includes('"kind":"checkpoint"') ? [at] : [],
    );
    expect(second).toBe(first + 1);
    expect(await isOk(lines)).toBe(true);
    const swapped = lines.with(first, lines[second] ?? "").with(second, lines[first] ?? "");
    expect(await isOk(swapped)).toBe(false);
  });

  test("that was cut off is found, wherever", async () => {
    const lines = await exportOf(FULL);
    for (let length = 0; length < lines.length; length += 1) {
      expect(await isOk(lines.slice(0, length))).toBe(false);
    }
  });

  test("says which line is wrong first, and why", async () => {
    const lines = await exportOf(FULL);
    const line = lines.findIndex((text) => text.includes("late_answer"));
    const changed = lines.with(line, lines[line]?.replace("late_answer", "early_answer") ?? "");
    const { broken } = await findingOf(changed);
    expect(broken).toEqual({
      line: line + 1,
      why: expect.stringMatching(/^Refusal \d+ was changed/),
    });
  });

  test.each(["act", "refusal"])(
    "with a new %s that is linked well by itself is found",
    async (kind) => {
      const lines = await exportOf(FULL);
      const line = lines.findIndex((text) => text.includes(`"kind":"${kind}"`));
      const value = JSON.parse(lines[line] ?? "") as Record<string, unknown> & { hash: unknown };
      const { payload: _, salt: __, content: ___, record, ...link } = value;
      const forged = { ...link, forged: true };
      const whole = { ...forged, hash: hashOf(forged), ...(record !== undefined && { record }) };
      const { broken } = await findingOf(lines.with(line, canonical(whole)));
      expect(broken?.line).toBe(line + 2);
      expect(broken?.why).toMatch("does not follow the one before it");
    },
  );

  test("may begin after a record, and is found to be that part", async () => {
    const lines = await exportOf(FULL, 3);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ kind: "session", after: { n: 3 } });
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ n: 4 });
    expect(await findingOf(lines)).toMatchObject({ ok: true, after: 3 });
    expect(await findingOf(await exportOf(FULL))).not.toHaveProperty("after");
    expect(await isOk(lines.toSpliced(1, 1))).toBe(false);
  });

  test("without what was written is still whole, and says how much is not there", async () => {
    const lines = (await exportOf(FULL)).map((line) => {
      const { payload: _, salt: __, ...rest } = JSON.parse(line) as Record<string, unknown>;
      return rest["kind"] === "act" ? JSON.stringify(rest) : line;
    });
    const acts = lines.filter((line) => line.includes('"kind":"act"')).length;
    expect(await findingOf(lines)).toMatchObject({ ok: true, withoutContent: acts });
  });

  test("is worth nothing with another's key", async () => {
    const lines = await exportOf(FULL);
    const others = [auditKey(new Uint8Array(32)).publicKey, "", "x"];
    expect((await verifyAudit(lines, { keys: others })).broken?.why).toMatch("not signed");
    expect((await verifyAudit(lines, { keys: [] })).ok).toBe(false);
  });

  test("of another session does not pass for it", async () => {
    const lines = await exportOf(FULL);
    const renamed = lines.map((line) => line.replaceAll('"session":"s"', '"session":"t"'));
    expect(await isOk(renamed)).toBe(false);
  });

  test("takes no signature that was given for another session, whatever it is of", async () => {
    const lines = await exportOf(FULL);
    const line = lines.findIndex((text) => text.includes('"kind":"checkpoint"'));
    const { key: _, signature: __, ...signed } = JSON.parse(lines[line] ?? "") as Checkpoint;
    const again = (session: string) =>
      canonical(signCheckpoint(auditKey(AUDIT_SECRET), { ...signed, session }));
    expect(await isOk(lines.with(line, again("s")))).toBe(true);
    const { broken } = await findingOf(lines.with(line, again("t")));
    expect(broken).toMatchObject({ line: line + 1, why: expect.stringMatching("not signed") });
  });

  test.each([
    [""],
    ["null"],
    ["[]"],
    ["{}"],
    ['{"kind":"session"}'],
    ['{"after":null,"kind":"session"}'],
  ])("is not %s", async (line) => expect(await isOk([line])).toBe(false));

  test("is the same over a restart", async () => {
    const storage = memoryStorage();
    const acts = (lines: readonly string[]) =>
      lines.filter((line) => line.includes('"kind":"act"'));
    const before = await (async () => {
      await using engine = startEngine({ storage });
      await play(engine, FULL);
      return await linesIn(engine);
    })();
    await using engine = startEngine({ storage });
    const after = await linesIn(engine);
    expect(acts(after)).toEqual(acts(before));
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    await play(engine, [{ type: "say", text: "more" }, { type: "policy" }]);
    const more = await linesIn(engine);
    expect(acts(more).slice(0, acts(before).length)).toEqual(acts(before));
    expect(await findingOf(more)).toMatchObject({ ok: true });
  });
});
