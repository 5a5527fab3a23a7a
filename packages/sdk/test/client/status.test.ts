import { HoldfastError } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { nextStatus, type SessionStatus, type StatusEvent } from "../../src/client/status.ts";

const error = new HoldfastError({ code: "unreachable", message: "Down." });
const other = new HoldfastError({ code: "forbidden", message: "No." });

const statuses: SessionStatus[] = [
  { type: "connecting" },
  { type: "live" },
  { type: "reconnecting", retryAt: 1, error },
  { type: "offline", error },
  { type: "closed" },
];
const events: StatusEvent[] = [
  { type: "connected" },
  { type: "lost", retryAt: 2, error },
  { type: "offline", error },
  { type: "closed", error: other },
];
const table = {
  connecting: ["live", "reconnecting", "offline", "closed"],
  live: ["live", "reconnecting", "offline", "closed"],
  reconnecting: ["live", "reconnecting", "offline", "closed"],
  offline: ["live", "reconnecting", "offline", "closed"],
  closed: ["closed", "closed", "closed", "closed"],
};

describe("a handle's status", () => {
  it.each(statuses)("goes on from $type as the table says", (status) => {
    expect(events.map((event) => nextStatus(status, event).type)).toEqual(table[status.type]);
  });

  it("carries when it is tried again, and why", () => {
    expect(nextStatus({ type: "live" }, { type: "lost", retryAt: 2, error })).toEqual({
      type: "reconnecting",
      retryAt: 2,
      error,
    });
    expect(nextStatus({ type: "live" }, { type: "closed", error: other })).toEqual({
      type: "closed",
      error: other,
    });
  });

  it("is the same object where nothing changes, and final once closed", () => {
    const live: SessionStatus = { type: "live" };
    expect(nextStatus(live, { type: "connected" })).toBe(live);
    const closed: SessionStatus = { type: "closed" };
    for (const event of events) expect(nextStatus(closed, event)).toBe(closed);
  });
});
