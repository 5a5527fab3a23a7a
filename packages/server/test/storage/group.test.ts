import { describe, expect, test } from "vitest";
import { type Change, groupChanges, type Outcome } from "../../src/storage/group.ts";
import { StorageError } from "../../src/storage/storage.ts";
import { addition, creation, refused, rowsOnly } from "../suites/commits.ts";
import { settle } from "../suites/settle.ts";

/** Groups changes for a writer that answers when the test says so. */
function grouped() {
  const written: (readonly Change[])[] = [];
  const answers: PromiseWithResolvers<readonly Outcome[]>[] = [];
  let ends = 0;
  const group = groupChanges(
    (changes) => {
      const answer = Promise.withResolvers<readonly Outcome[]>();
      written.push(changes);
      answers.push(answer);
      return answer.promise;
    },
    () => void (ends += 1),
  );
  return { ...group, written, answers, ends: () => ends };
}

const done: Outcome = { type: "done" };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("changes in groups", () => {
  test("what is called in one turn travels together, and waits for no other group", async () => {
    const { append, written, answers } = grouped();
    const first = [append(creation("a")), append(creation("b"))];
    await turn();
    const second = [append(creation("c"))];
    await turn();
    expect(written.map((changes) => changes.length)).toEqual([2, 1]);
    answers[1]?.resolve([done]);
    await Promise.all(second);
    answers[0]?.resolve([done, done]);
    await Promise.all(first);
  });

  test("what follows a change of its session waits for it, in order, and lets others pass", async () => {
    const { append, addAudit, delete: remove, written, answers } = grouped();
    const first = append(creation("a"));
    const rest = [addAudit("a", [refused("r")]), append(addition("a", 1))];
    await turn();
    const others = [remove("a"), append(creation("b"))];
    await turn();
    expect(written.map((changes) => changes.map(({ type }) => type))).toEqual([
      ["append", "audit", "append"],
      ["append"],
    ]);
    answers[0]?.resolve([done, done, done]);
    await Promise.all([first, ...rest]);
    await turn();
    expect(written[2]?.map(({ type }) => type)).toEqual(["delete"]);
    answers[1]?.resolve([done]);
    answers[2]?.resolve([done]);
    await Promise.all(others);
  });

  test("a group that fails rejects all of it, and what builds on it, but nothing else", async () => {
    const { append, delete: remove, written, answers } = grouped();
    const first = [append(creation("a")), append(creation("b"))];
    await turn();
    const row = { kind: "k", id: "i", value: "v" };
    const second = settle([
      append(rowsOnly("a", 0, { rows: [row] })),
      append(creation("c")),
      remove("b"),
      append(creation("b")),
    ]);
    answers[0]?.reject(new Error("no space"));
    expect(await settle(first)).toEqual(["failed", "failed"]);
    await turn();
    answers[1]?.resolve([done, done, done]);
    expect(await second).toEqual(["failed", "done", "done", "done"]);
    expect(written[1]).toHaveLength(3);
  });

  test("a failed change takes along what waits of its session alone", async () => {
    const { append, answers } = grouped();
    const first = [append(addition("a", 0)), append(addition("b", 0))];
    await turn();
    const second = settle([append(addition("a", 1)), append(addition("b", 1))]);
    const error = new StorageError("failed", "no");
    answers[0]?.resolve([{ type: "failed", error }, done]);
    expect(await settle(first)).toEqual(["failed", "done"]);
    await turn();
    answers[1]?.resolve([done]);
    expect(await second).toEqual(["failed", "done"]);
  });

  test("a session that was deleted after a failure is new, also to what comes meanwhile", async () => {
    const { append, delete: remove, answers } = grouped();
    const first = settle([append(addition("a", 0)), remove("a"), append(creation("a"))]);
    await turn();
    const second = settle([append(addition("a", 0))]);
    const error = new StorageError("failed", "no");
    answers[0]?.resolve([{ type: "failed", error }, done, done]);
    expect(await first).toEqual(["failed", "done", "done"]);
    await turn();
    answers[1]?.resolve([done]);
    expect(await second).toEqual(["done"]);
  });

  test("audit records neither fail with the appends of their session nor heal it", async () => {
    const { append, addAudit, written, answers } = grouped();
    const first = [append(addition("a", 0))];
    await turn();
    const second = settle([addAudit("a", [refused("r")]), append(addition("a", 1))]);
    const error = new StorageError("failed", "no");
    answers[0]?.resolve([{ type: "failed", error }]);
    expect(await settle(first)).toEqual(["failed"]);
    await turn();
    expect(written[1]).toEqual([{ type: "audit", session: "a", records: [refused("r")] }]);
    answers[1]?.resolve([{ type: "failed", error }]);
    const third = append(addition("a", 0));
    expect(await second).toEqual(["failed", "failed"]);
    await turn();
    answers[2]?.resolve([done]);
    await third;
  });

  test("end once what is on its way has settled, though nothing waits", async () => {
    const { append, close, answers, ends } = grouped();
    const one = append(creation("a"));
    await turn();
    const closing = close();
    await turn();
    expect(ends()).toBe(0);
    answers[0]?.resolve([done]);
    await Promise.all([one, closing]);
    expect(ends()).toBe(1);
  });

  test("end once all have settled, and take nothing more", async () => {
    const { append, delete: remove, check, close, answers, ends } = grouped();
    const one = append(creation("a"));
    await turn();
    const two = append(creation("b"));
    const closing = Promise.all([close(), close()]);
    expect(check).toThrow(StorageError);
    expect(await settle([append(creation("c")), remove("a")])).toEqual(["closed", "closed"]);
    answers[0]?.resolve([done]);
    await one;
    await turn();
    expect(ends()).toBe(0);
    answers[1]?.resolve([done]);
    await two;
    await closing;
    expect(ends()).toBe(1);
  });
});
