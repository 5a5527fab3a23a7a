import { waitingFor, waitingOf } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { machinesAct, openCalls, peopleAct, untilRest } from "../support/rest.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

it(
  "11.9 left alone, machines come to rest, everyone left is named, and when people act all ends",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    const waited = new Set<string>();
    const property = fc.property(choices(160), fc.boolean(), fc.nat(), (numbers, works, choice) => {
      const desk = walk(numbers, { coverage });
      untilRest(desk, () => machinesAct(desk, works));
      for (const id of desk.state.index.live) {
        const { kind, runs } = waitingFor(desk.state, desk.run(id));
        waited.add(kind);
        if (works || runs) expect(["person", "client", "worker"]).toContain(kind);
        expect(kind).not.toBe("nobody");
        if (works) expect(kind).not.toBe("worker");
      }
      for (const call of openCalls(desk)) {
        expect(waitingOf(call).kind).not.toBe("nobody");
        if (works) expect(["gated", "open"]).toContain(call.status);
        // The agent's own go on once its run is owed nothing more.
        if (works && waitingOf(call).kind === "agent")
          expect(desk.run(call.runId).status).toBe("suspended");
      }
      untilRest(desk, () => {
        peopleAct(desk, choice);
        machinesAct(desk, true);
      });
      expect([...desk.state.index.live]).toEqual([]);
      expect(openCalls(desk)).toEqual([]);
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
    expect([...waited].toSorted()).toEqual(["client", "person", "worker"]);
  },
);
