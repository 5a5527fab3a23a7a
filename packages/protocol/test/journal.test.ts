import { describe, expect, it } from "vitest";
import { changedSince, createJournal, markOf, noteChange } from "../src/journal.ts";

describe("a journal of changed nodes", () => {
  it("names what changed since a mark, and the newest again", () => {
    const journal = createJournal();
    expect([...(changedSince(journal, markOf(journal)) ?? [])]).toEqual([]);
    noteChange(journal, "a");
    const mark = markOf(journal);
    noteChange(journal, "a");
    expect([...(changedSince(journal, mark) ?? [])]).toEqual(["a"]);
    noteChange(journal, "b");
    expect([...(changedSince(journal, mark) ?? [])]).toEqual(["a", "b"]);
  });

  it("stays small, and says when it no longer knows", () => {
    const journal = createJournal();
    for (let n = 0; n < 10_000; n += 1) noteChange(journal, `n${n}`);
    const mark = markOf(journal);
    expect(journal.ids.length).toBeLessThanOrEqual(512);
    expect(changedSince(journal, 1)).toBeUndefined();
    expect(changedSince(journal, 0)).toBeUndefined();
    noteChange(journal, "last");
    expect([...(changedSince(journal, mark) ?? [])]).toEqual(["n9999", "last"]);
  });
});
