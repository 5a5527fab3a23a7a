import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recorded, type Recorded } from "../../src/cli/recorded.ts";
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

const sse = (...events: object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

async function* chunksOf(...chunks: string[]) {
  yield* chunks;
}

async function eventsOf(...chunks: string[]): Promise<Recorded[]> {
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
  const events = [{ event: START }, { event: FINISH }];
  it.each([
    ["server-sent events", sse(START, FINISH)],
    [
      "server-sent events with comments, ids and no last empty line",
      `: hi\n\nid: 1\n${sse(START, FINISH).trimEnd()}`,
    ],
    ["JSON lines", `${JSON.stringify(START)}\n\n${JSON.stringify(FINISH)}`],
    ["a JSON array", `\uFEFF\n ${JSON.stringify([START, FINISH], undefined, 2)}`],
  ])("is read as %s, however it is cut", async (_format, text) => {
    expect(await eventsOf(text)).toEqual(events);
    expect(await eventsOf(...(text.match(/./gs) ?? []))).toEqual(events);
  });

  it("D13: says that lines end in CR LF, once, and reads on", async () => {
    const [first, ...more] = await eventsOf(sse(START, FINISH).replaceAll("\n", "\r\n"));
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
