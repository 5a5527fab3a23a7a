import { expect, test } from "vitest";
import * as agent from "@holdfast/sdk/agent";
import * as testing from "@holdfast/sdk/testing";

test("what users of the agent SDK may import", () => {
  expect(Object.keys(agent).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "attachRun",
    "executionOf",
    "readWebhook",
    "webhookHandler",
    "worker",
  ]);
  expect(Object.keys(testing)).toContain("scriptedModel");
});
