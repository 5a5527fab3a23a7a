import { fileURLToPath } from "node:url";
import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

// Workspace packages resolve to their src, so that tests need no build.
const source = "@holdfast/source";
const report = process.env["HOLDFAST_TEST_REPORT"];

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
  test: {
    maxWorkers: 2,
    // Programs that tests start are stripped of their types once, and not each time.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/node", import.meta.url)),
    },
    // These machines are shared: a limit is there to end a hang, not to time anything.
    testTimeout: 30_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // Files of one worker share what they import: half of the time went into importing it again.
          isolate: false,
          include: [
            "packages/*/test/**/*.test.{ts,tsx}",
            "apps/*/test/**/*.test.{ts,tsx}",
            "examples/*/test/**/*.test.{ts,tsx}",
            "test/*.test.ts",
            "test/cases/*.test.ts",
            "test/hostile/*.test.ts",
            "test/arbiter/*.test.ts",
          ],
          exclude: ["test/arbiter/cells.test.ts"],
        },
      },
      {
        // Every cell of the tables once more, over HTTP: the tables' own tests are among the units.
        extends: true,
        test: { name: "cells", include: ["test/arbiter/cells.test.ts"] },
      },
      {
        extends: true,
        test: { name: "faults", include: ["test/faults/**/*.test.ts"], testTimeout: 60_000 },
      },
      {
        // Needs packages of its own: see test/copilotkit/package.json.
        extends: true,
        test: {
          name: "copilotkit",
          include: ["test/copilotkit/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
