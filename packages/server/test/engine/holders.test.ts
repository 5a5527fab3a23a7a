import { expect, test } from "vitest";
import { Holders } from "../../src/engine/holders.ts";

test("who holds an attempt is kept as long as the attempt and its session, and no longer", () => {
  const holders = new Holders();
  const one = { attempt: 1, instance: "i1" };
  for (const session of ["a", "b"])
    for (const runId of ["r1", "r2"]) holders.set(session, runId, one);
  holders.set("a", "r1", { attempt: 2, instance: "i2" });
  expect(holders.get("a", "r1")).toEqual({ attempt: 2, instance: "i2" });
  holders.drop("a", "r1");
  expect([holders.get("a", "r1"), holders.get("a", "r2")]).toEqual([undefined, one]);
  expect(holders.size).toBe(2);
  holders.drop("a", "r2");
  holders.drop("a", "r2");
  expect(holders.size).toBe(1);
  holders.delete("b");
  expect([holders.size, holders.get("b", "r1")]).toEqual([0, undefined]);
});
