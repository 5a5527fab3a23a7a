import { schemaText, type ToolDeclaration } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import { roundTrip } from "../cases/support.ts";

const PAGE: ToolDeclaration = { name: "page", parameters: { type: "object", required: ["a"] } };
const OTHER: ToolDeclaration = { name: "page", parameters: { type: "object", required: ["b"] } };

function advertise(desk: Desk, tools: ToolDeclaration[], name = "ana") {
  return applied(desk.user({ type: "tools.advertise", tools }, name));
}

function digestOf(desk: Desk, tool: ToolDeclaration): string {
  return desk.env("user:ana").digest(schemaText(tool));
}

describe("4.3.7 advertised tools", () => {
  it("have a digest of their schema and a version that goes up with it", () => {
    const desk = openDesk();
    const known = () =>
      desk.state.session.advertised.map(({ tool, version, at, lastSeen, by }) => ({
        digest: tool.digest,
        version,
        at,
        lastSeen,
        by,
      }));
    advertise(desk, [PAGE]);
    const first = { digest: digestOf(desk, PAGE), version: 1, at: 1_000, by: "user:ana" };
    expect(known()).toEqual([{ ...first, lastSeen: 1_000 }]);
    desk.tick(10);
    const described = { ...PAGE, description: "Shows a page.", digest: "made up" };
    advertise(desk, [described], "bo");
    expect(known()).toEqual([{ ...first, by: "user:bo", lastSeen: 1_010 }]);
    advertise(desk, [OTHER]);
    expect(known()).toMatchObject([{ digest: digestOf(desk, OTHER), version: 2, at: 1_010 }]);
    expect(roundTrip(desk).session).toEqual(desk.state.session);
  });

  it("are the same whatever the order of their schema's members, and no schema is an empty one", () => {
    const turned = { name: "page", parameters: { required: ["a"], type: "object" } };
    expect(schemaText(turned)).toBe(schemaText(PAGE));
    expect(schemaText({})).toBe(schemaText({ parameters: {} }));
    expect(schemaText(OTHER)).not.toBe(schemaText(PAGE));
  });

  it("4.3.9 are the 1024 that were advertised last, each name once", () => {
    const desk = openDesk();
    for (let n = 0; n < 1_500; n += 500)
      advertise(
        desk,
        Array.from({ length: 500 }, (_, k) => ({ name: `t${n + k}` })),
      );
    advertise(desk, [{ name: "t600" }, { name: "t0" }]);
    const names = desk.state.session.advertised.map(({ tool }) => tool.name);
    expect([names.length, new Set(names).size]).toEqual([1024, 1024]);
    expect(names[0]).toBe("t477");
    expect(names.slice(-2)).toEqual(["t600", "t0"]);
  });

  it("said again change nothing for a minute; anything new among them is recorded", () => {
    const desk = openDesk();
    advertise(desk, [PAGE]);
    const { length } = desk.entries;
    desk.tick(60_000);
    expect(advertise(desk, [PAGE], "bo").repeated).toBe(true);
    expect(desk.entries).toHaveLength(length);
    desk.tick(1);
    expect(advertise(desk, [PAGE]).repeated).toBeUndefined();
    expect(desk.state.session.advertised).toMatchObject([{ version: 1, lastSeen: 61_001 }]);
    expect(advertise(desk, [PAGE, { name: "map" }]).repeated).toBeUndefined();
    expect(advertise(desk, [{ ...PAGE, retry: "safe" }]).repeated).toBeUndefined();
  });
});

describe("4.3.1 the tools of an attempt", () => {
  it("are those that were advertised when it started", () => {
    const desk = openDesk({ complete: true, tools: [{ name: "job" }] });
    advertise(desk, [PAGE]);
    const runId = desk.send("m1");
    desk.start(runId);
    advertise(desk, [OTHER, { name: "late" }]);
    const agent = desk.agent(runId);
    agent.append({ type: "round.open" }, ...proposal("c", "page", '{"a":1}'));
    agent.append(...proposal("l", "late"), { type: "round.close" });
    expect(desk.call("c")).toMatchObject({
      status: "open",
      executor: "client",
      tool: { digest: digestOf(desk, PAGE) },
    });
    expect(desk.call("l")).toMatchObject({ reason: "unknown_tool" });
    agent.finish();
    applied(desk.user({ type: "call.cancel", callId: "c" }));
    desk.start(runId);
    desk.agent(runId).append(...proposal("m", "late"));
    expect(desk.call("m")).toMatchObject({ status: "ended", executor: "client" });
  });

  it("4.3.8 are claimed by who executes that schema", () => {
    const desk = openDesk({ tools: [{ name: "job" }] });
    advertise(desk, [PAGE]);
    const runId = desk.send("m1");
    desk.start(runId);
    const agent = desk.agent(runId);
    agent.append({ type: "round.open" }, ...proposal("c", "page", '{"a":1}'));
    agent.append(...proposal("j", "job"), { type: "round.close" });
    const claim = (toolDigest: string) =>
      ({ type: "call.claim", callId: "c", toolDigest }) as const;
    expect(desk.user(claim(digestOf(desk, OTHER))).error).toMatchObject({
      code: "not_executor",
      message: expect.stringContaining("another schema of page"),
      details: { toolDigest: digestOf(desk, PAGE) },
    });
    applied(desk.user(claim(digestOf(desk, PAGE))));
    expect(agent.command({ ...claim("x"), callId: "j" }).error?.code).toBe("not_executor");
    applied(agent.command({ type: "call.claim", callId: "j" }));
  });
});
