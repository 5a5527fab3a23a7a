import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

test("@holdfast/sdk names its source before its build in every export", () => {
  expect(manifest.name).toBe("@holdfast/sdk");
  for (const [path, target] of Object.entries(manifest.exports)) {
    if (path === "./package.json") continue;
    expect(Object.keys(target)).toEqual(["@holdfast/source", "types", "default"]);
  }
});
