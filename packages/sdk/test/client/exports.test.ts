import { expect, it } from "vitest";
import * as client from "../../src/client/index.ts";
import { newId } from "../../src/client/new-id.ts";
import * as react from "../../src/react/index.ts";

it("@holdfast/sdk/client exports what is meant to be used", () => {
  expect(Object.keys(client).sort()).toEqual([
    "createClient",
    "createSocket",
    "createTransport",
    "declarationOf",
    "follow",
    "nextFrame",
    "provideTool",
  ]);
});

it("@holdfast/sdk/react exports what is meant to be used", () => {
  expect(Object.keys(react).sort()).toEqual([
    "HoldfastProvider",
    "useApprovals",
    "useClientTool",
    "useHoldfast",
    "useSession",
    "useToolCalls",
    "useView",
  ]);
});

it("ids are UUIDs, also where the page has no secure context", () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(newId()).toMatch(uuid);
  // Shadows the method of the prototype.
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  try {
    expect(newId()).toMatch(uuid);
    expect(newId()).not.toBe(newId());
  } finally {
    Reflect.deleteProperty(crypto, "randomUUID");
  }
});
