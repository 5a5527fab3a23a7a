import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findImports, readSources } from "./imports.ts";
import { violations } from "./layers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("layers", () => {
  test.each(["packages/protocol/src", "packages/sdk/src", "packages/server/src"])(
    "%s imports only what its layer may",
    (folder) => {
      const sources = readSources(root, folder);
      expect(sources.length, `no source file found in ${folder}`).toBeGreaterThan(0);
      expect(sources.flatMap(violations)).toEqual([]);
    },
  );

  test("apps import only what they may", () => {
    const sources = readSources(root, "apps").filter(({ path }) => path.includes("/src/"));
    expect(sources.flatMap(violations)).toEqual([]);
  });

  test.each([
    ["packages/protocol/src/a.ts", `import { z } from "zod";`],
    ["packages/protocol/src/a.ts", `import { EventType } from "@ag-ui/core";`],
    ["packages/protocol/src/a.ts", `import fs from "node:fs";`],
    ["packages/protocol/src/a.ts", `import { entry } from "./schemas/entry.ts";`],
    ["packages/protocol/src/schemas/a.ts", `import { Hono } from "hono";`],
    ["packages/sdk/src/client/a.ts", `import { worker } from "../agent/worker.ts";`],
    ["packages/sdk/src/client/a.ts", `import { setTimeout } from "node:timers/promises";`],
    ["packages/sdk/src/agent/a.ts", `export { aiSdk } from "@holdfast/sdk/codec/ai-sdk";`],
    ["packages/sdk/src/codec/a.ts", `import type { Client } from "../client/open.ts";`],
    ["packages/sdk/src/react/a.ts", `import { worker } from "../agent/index.ts";`],
    ["packages/sdk/src/client/a.ts", `import { serve } from "holdfast";`],
    ["packages/sdk/src/index.ts", `export * from "./client/index.ts";`],
    ["packages/server/src/storage/a.ts", `import { actor } from "../engine/actor.ts";`],
    ["packages/server/src/engine/a.ts", `const x = await import("../storage/sqlite.ts");`],
    ["packages/server/src/http/a.ts", `import { memory } from "../storage/memory.ts";`],
    ["packages/server/src/http/a.ts", `import { agUi } from "../faces/ag-ui.ts";`],
    ["packages/server/src/server.ts", `import { open } from "@holdfast/sdk/client";`],
    ["packages/server/src/server.ts", `import { x } from "../test/x.ts";`],
    ["apps/inspector/src/a.ts", `import { serve } from "holdfast";`],
  ])("forbids in %s: %s", (path, text) => {
    expect(violations({ path, imports: findImports(text) })).toHaveLength(1);
  });

  test.each([
    ["packages/protocol/src/a.ts", `import type { BaseEvent } from "@ag-ui/core";`],
    ["packages/protocol/src/schemas/a.ts", `import { z } from "zod";`],
    ["packages/sdk/src/react/a.ts", `import { open } from "../client/index.ts";`],
    ["packages/sdk/src/testing/a.ts", `import { serve } from "holdfast";`],
    ["packages/server/src/engine/a.ts", `import type { Storage } from "../storage/storage.ts";`],
    ["packages/server/src/http/a.ts", `import { entry } from "@holdfast/protocol/schemas";`],
    ["packages/server/src/server.ts", `import { sqlite } from "./storage/sqlite.ts";`],
  ])("allows in %s: %s", (path, text) => {
    const imports = findImports(text);
    expect(imports).toHaveLength(1);
    expect(violations({ path, imports })).toEqual([]);
  });
});

test.each([
  [`import a, { b } from "x";`, [{ specifier: "x", typeOnly: false }]],
  [`import {\n  a,\n  type B,\n} from "x";`, [{ specifier: "x", typeOnly: false }]],
  [`import { type B } from "x";`, [{ specifier: "x", typeOnly: false }]],
  [`import type { B } from "x";`, [{ specifier: "x", typeOnly: true }]],
  [`import type from "x";`, [{ specifier: "x", typeOnly: false }]],
  [`import * as a from 'x';`, [{ specifier: "x", typeOnly: false }]],
  [`import "x";`, [{ specifier: "x", typeOnly: false }]],
  [`export * from "x";`, [{ specifier: "x", typeOnly: false }]],
  [`export type { B } from "x";`, [{ specifier: "x", typeOnly: true }]],
  [`const a = await import("x");`, [{ specifier: "x", typeOnly: false }]],
  [`type A = import("x").A;`, [{ specifier: "x", typeOnly: false }]],
  [`// import "x";\n/* import "y"; */\n/**\nimport "z";\n*/`, []],
  [`const u = "http://a"; // b\nimport "x";`, [{ specifier: "x", typeOnly: false }]],
  [`export const from = "x";`, []],
])("finds the imports of %j", (text, imports) => {
  expect(findImports(text)).toEqual(imports);
});
