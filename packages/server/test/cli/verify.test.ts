import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BaseEvent } from "@ag-ui/core";
import { EventEncoder } from "@ag-ui/encoder";
import { AGUI_MEDIA_TYPE } from "@ag-ui/proto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Recorded } from "../../src/cli/recorded-item.ts";
import { recorded } from "../../src/cli/recorded.ts";
import { checkStream } from "../../src/cli/verify.ts";
import { verifyStream } from "../../src/cli/verify-stream.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISH = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const ARGS = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "x" };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "holdfast-verify-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const TEXT = { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "Grüße 🎉" };

const protobuf = (...events: object[]) => {
  const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });
  return Buffer.concat(events.map((event) => encoder.encodeBinary(event as BaseEvent)));
};
const sse = (...events: object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

async function* chunksOf(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

/** The same, byte by byte. */
const cut = (bytes: Uint8Array) => [...bytes].map((byte) => Uint8Array.of(byte));

async function eventsOf(...chunks: (string | Uint8Array)[]): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for await (const event of recorded(chunksOf(...chunks))) events.push(event);
  return events;
}

/** The exit code of the command, and all that it printed. */
async function verify(args: readonly string[]) {
  let output = "";
  const print = (line: string) => void (output += `${line}\n`);
  return { code: await checkStream(args, { log: print, error: print }), output };
}

/** Serves every request alike, for as long as `use` takes. */
async function serving<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("a recording", () => {
  const events = [{ event: START }, { event: TEXT }, { event: FINISH }];
  it.each([
    ["server-sent events", sse(START, TEXT, FINISH)],
    [
      "server-sent events with comments, ids and no last empty line",
      `: hi\n\nid: 1\n${sse(START, TEXT, FINISH).trimEnd()}`,
    ],
    ["JSON lines", [START, TEXT, FINISH].map((event) => JSON.stringify(event)).join("\n\n")],
    ["a JSON array", `\uFEFF\n ${JSON.stringify([START, TEXT, FINISH], undefined, 2)}`],
    ["protobuf", protobuf(START, TEXT, FINISH)],
  ])("is read as %s, however it is cut", async (_format, recording) => {
    const bytes = Buffer.from(recording);
    expect(await eventsOf(bytes)).toEqual(events);
    expect(await eventsOf(...cut(bytes))).toEqual(events);
    expect(await eventsOf(new Uint8Array(), bytes, new Uint8Array())).toEqual(events);
  });

  it.each([
    [
      "that ends within a frame",
      protobuf(START, FINISH).subarray(0, -1),
      "in the middle of frame 1",
    ],
    ["that ends within a length", [...protobuf(START), 0, 0], "in the middle of frame 1"],
    ["of a frame that is no event", [...protobuf(START), 0, 0, 0, 2, 1, 2], "Frame 1 is no event"],
    [
      "of a length beyond all",
      [...protobuf(START), 0, 160, 0, 1, 0, 0],
      "Frame 1 has 10485761 bytes",
    ],
  ])("D13: says what is wrong with protobuf %s", async (_what, bytes, words) => {
    const read = await eventsOf(Uint8Array.from(bytes));
    const problem = { rule: "D13", message: expect.stringContaining(words) };
    expect(read).toMatchObject([{ event: START }, { problem }]);
    expect(await eventsOf(...cut(Uint8Array.from(bytes)))).toEqual(read);
  });

  it("leaves out protobuf of a later version, as any unknown type", async () => {
    const later = [...protobuf(START), 0, 0, 0, 3, 0xfa, 0x3f, 0, ...protobuf(FINISH)];
    const stream = recorded(chunksOf(Uint8Array.from(later)));
    expect(await verifyStream(stream, {})).toMatchObject({
      events: 3,
      violations: [],
      warnings: [{ rule: "E2", index: 1 }],
    });
  });

  it("D13: says that a frame is longer than stock clients read, and reads it", async () => {
    const long = { type: "CUSTOM", name: "n", value: "x".repeat(10 * 1024 * 1024) };
    const read = await eventsOf(sse(START, long, FINISH));
    expect(read.map((it) => ("problem" in it ? it.problem.rule : ""))).toEqual(["", "D13", "", ""]);
  });

  it("D13: says that lines end in CR LF, once, and reads on", async () => {
    const [first, ...more] = await eventsOf(sse(START, TEXT, FINISH).replaceAll("\n", "\r\n"));
    expect(first).toMatchObject({
      problem: { rule: "D13", message: expect.stringContaining("CR") },
    });
    expect(more).toEqual(events);
  });

  it("D13: says that a frame holds no JSON, and reads on", async () => {
    const read = await eventsOf("data:\n\n", sse(START));
    expect(read).toMatchObject([{ problem: { rule: "D13" } }, { event: START }]);
  });

  it("is refused where an array or a line is no JSON", async () => {
    await expect(eventsOf("[1,")).rejects.toThrow("The array is no JSON");
    await expect(eventsOf(`${JSON.stringify(START)}\n{`)).rejects.toThrow("Line 2 is no JSON");
  });
});

it("lists what is wrong beyond the first violation, each with its event, alike ones together", async () => {
  const stream = recorded(chunksOf(sse(START, ARGS, ARGS, { type: "NEW" }, START)));
  const findings = await verifyStream(stream, {});
  expect(findings).toMatchObject({
    events: 5,
    violations: [
      { rule: "V8", index: 1, type: "TOOL_CALL_ARGS", count: 2 },
      { rule: "V4", index: 4, type: "RUN_STARTED", count: 1 },
      { rule: "D1", index: 5 },
    ],
    warnings: [{ rule: "E2", index: 3, type: "NEW" }],
  });
  expect(findings.violations[2]).not.toHaveProperty("type");
});

describe("holdfast verify", () => {
  it("exits with 0, 1 or 2: nothing wrong, something, or nothing read", async () => {
    const [good, bad] = [join(directory, "good"), join(directory, "bad")];
    await writeFile(good, sse(START, FINISH));
    await writeFile(bad, sse(START, ARGS));
    expect(await verify([good])).toEqual({
      code: 0,
      output: `${good}: 2 events, 0 violations, 0 warnings.\n`,
    });
    const { code, output } = await verify([bad]);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^event 1 {2}V8 {2}TOOL_CALL_ARGS\n {2}Cannot send .*\n {2}Why: .*\n {2}Do: /,
    );
    expect(output).toContain(`${bad}: 2 events, 2 violations, 0 warnings.`);
    for (const args of [
      ["http://127.0.0.1:1/agent"],
      [join(directory, "none")],
      [],
      ["--colour"],
      [good, bad],
      [good, "--input", bad],
    ]) {
      expect(await verify(args)).toMatchObject({
        code: 2,
        output: expect.stringMatching(/^holdfast: /),
      });
    }
  });

  it("reads what is piped in, and prints JSON", async () => {
    const args = ["--conditions=@holdfast/source", MAIN, "verify", "-", "--json"];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stdin.end(JSON.stringify([START, ARGS, FINISH]));
    const [code] = (await once(child, "close")) as [number];
    expect([code, JSON.parse(output)]).toEqual([
      1,
      {
        source: "-",
        ok: false,
        events: 3,
        violations: [
          {
            rule: "V8",
            index: 1,
            type: "TOOL_CALL_ARGS",
            count: 1,
            message: expect.any(String),
            clause: expect.any(String),
            fix: expect.any(String),
          },
        ],
        warnings: [],
      },
    ]);
  });

  it("takes a live stream's ids and tools from the input that it posts", async () => {
    const file = join(directory, "input.json");
    const tools = [{ name: "ask", description: "" }];
    const input = { threadId: "t", runId: "r", messages: [], tools };
    await writeFile(file, JSON.stringify(input));
    const call = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "ask" };
    const result = { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "m", content: "" };
    const stream = sse(START, call, { type: "TOOL_CALL_END", toolCallId: "c" }, result, FINISH);
    const posted: unknown[] = [];
    const { code, output } = await serving(
      (request, response) => {
        request.setEncoding("utf8").on("data", (text: string) => {
          posted.push(
            request.method,
            request.headers.accept,
            request.headers["x-key"],
            JSON.parse(text),
          );
          response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
        });
      },
      (url) => verify([url, "--input", file, "--json", "--header", "X-Key: k"]),
    );
    expect(posted).toEqual(["POST", "text/event-stream", "k", { ...input, context: [] }]);
    expect([code, JSON.parse(output)]).toMatchObject([
      1,
      { violations: [{ rule: "D8", index: 3 }] },
    ]);
  });

  it.each([
    ["that was asked for", ["--header", `Accept: ${AGUI_MEDIA_TYPE}`], []],
    ["that was not", [], ["D13"]],
  ])("reads a live stream of protobuf %s", async (_what, args, rules) => {
    const { output } = await serving(
      (request, response) => {
        let text = "";
        request.setEncoding("utf8").on("data", (more: string) => (text += more));
        request.on("end", () => {
          const { threadId, runId } = JSON.parse(text) as { threadId: string; runId: string };
          const ids = { threadId, runId };
          const stream = protobuf({ ...START, ...ids }, TEXT, { ...FINISH, ...ids });
          response.writeHead(200, { "content-type": AGUI_MEDIA_TYPE }).end(stream);
        });
      },
      (url) => verify([url, "--json", ...args]),
    );
    const { events, violations } = JSON.parse(output) as { events: number; violations: object[] };
    expect([events, violations]).toMatchObject([3, rules.map((rule) => ({ rule }))]);
  });

  it("sends a greeting where no input is given, and wants its run back", async () => {
    const { code, output } = await serving(
      (request, response) => {
        request.resume();
        response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(START, FINISH));
      },
      (url) => verify([url, "--json"]),
    );
    expect([code, JSON.parse(output)]).toMatchObject([
      1,
      { violations: [{ rule: "D2", index: 0 }, { rule: "D2" }] },
    ]);
  });

  it("D13: says that the answer is no stream, that the connection was lost; a refusal is nothing read", async () => {
    const page = await serving(
      (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      (url) => verify([url, "--json"]),
    );
    expect(JSON.parse(page.output)).toMatchObject({
      violations: [{ rule: "D13" }, { rule: "D1" }],
    });
    const lost = await serving(
      (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sse(START), () => response.destroy());
      },
      (url) => verify([url, "--json"]),
    );
    expect(lost.code).toBe(1);
    expect(lost.output).toContain("The connection was lost");
    const refused = await serving(
      (_request, response) => response.writeHead(422).end("no such thread"),
      (url) => verify([url]),
    );
    expect(refused).toMatchObject({
      code: 2,
      output: expect.stringContaining("answered 422: no such thread"),
    });
  });
});
