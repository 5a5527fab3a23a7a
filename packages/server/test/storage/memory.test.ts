import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { storageSuite } from "../suites/storage.ts";

storageSuite("memory", async () => ({ storage: memoryStorage() }));

test("the clock is the one given", () => {
  expect(memoryStorage({ now: () => 42 }).now()).toBe(42);
});
