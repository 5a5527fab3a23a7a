import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { AGUI_MEDIA_TYPE } from "@ag-ui/proto";
import { enforceAgUiInput, type AgUiInput } from "@holdfast/protocol/ag-ui";
import { misread, type Recorded } from "./recorded-item.ts";
import { recorded } from "./recorded.ts";
import { verifyStream, type Finding, type Findings } from "./verify-stream.ts";

/** `holdfast verify <file or URL>`: see {@link checkStream}. */
export async function verify(args: readonly string[]): Promise<void> {
  process.exitCode = await checkStream(args, console);
}

/**
 * Checks an AG-UI stream, recorded or live, and says of each violation which event it is, which rule, where the
 * specification says so, and what to do. The exit code is 0 for none, 1 for some, 2 where it could not be read.
 */
export async function checkStream(args: readonly string[], out: Out): Promise<0 | 1 | 2> {
  try {
    const { violations } = await check(args, out);
    return violations.length > 0 ? 1 : 0;
  } catch (error) {
    out.error(`holdfast: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
}

/** Where lines go. */
export type Out = Pick<Console, "log" | "error">;

async function check(args: readonly string[], out: Out): Promise<Findings> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      input: { type: "string" },
      header: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
    },
  });
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    throw new Error(
      "Say `holdfast verify <file, URL, or - for what is piped in> [--input <file>] [--json]`.",
    );
  }
  const isLive = /^https?:\/\//.test(source);
  const given = values.input === undefined ? undefined : await inputIn(values.input);
  const input = given ?? (isLive ? leastInput() : undefined);
  const stream =
    isLive && input
      ? live(source, input, headersOf(values.header))
      : recorded(source === "-" ? process.stdin : createReadStream(source));
  const findings = await verifyStream(
    stream,
    {
      strict: values.strict,
      ...(input && {
        threadId: input.threadId,
        runId: input.runId,
        frontendTools: input.tools.map(({ name }) => name),
      }),
    },
    values.json ? undefined : (finding) => out.log(wordsOf(finding)),
  );
  const { violations, warnings, events } = findings;
  if (values.json) out.log(JSON.stringify({ source, ok: violations.length === 0, ...findings }));
  else {
    const found = `${numberOf(violations.length, "violation")}, ${numberOf(warnings.length, "warning")}`;
    out.log(`${source}: ${numberOf(events, "event")}, ${found}.`);
  }
  return findings;
}

/** Posts the input, and gives what comes back. @throws Error where no stream comes back */
async function* live(
  url: string,
  input: AgUiInput,
  headers: Headers,
): AsyncGenerator<Recorded, void, void> {
  headers.set("content-type", "application/json");
  if (!headers.has("accept")) headers.set("accept", SSE);
  const response = await fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify(input),
  }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url} cannot be reached: ${why}`, { cause: error });
  });
  if (!response.ok) {
    const body = await response.text();
    throw new Error(`${url} answered ${response.status}: ${body.slice(0, 500)}`);
  }
  const type = response.headers.get("content-type") ?? "none";
  const [is = ""] = type
    .toLowerCase()
    .split(";", 1)
    .map((part) => part.trim());
  const asked = headers.get("accept") ?? "";
  if ((is !== SSE && is !== AGUI_MEDIA_TYPE) || !asked.includes(is)) {
    yield misread(`The answer's content type is ${type}, where ${asked} was asked for.`);
  }
  if (!response.body) return;
  try {
    yield* recorded(response.body, { format: is === AGUI_MEDIA_TYPE ? "protobuf" : "sse" });
  } catch (error) {
    yield misread(`The connection was lost: ${error instanceof Error ? error.message : ""}`);
  }
}

const SSE = "text/event-stream";

async function inputIn(path: string): Promise<AgUiInput> {
  const { value, violation } = enforceAgUiInput(JSON.parse(await readFile(path, "utf8")));
  if (value) return value;
  throw new Error(`${path} is no input: ${violation?.message ?? ""}`);
}

function leastInput(): AgUiInput {
  const messages = [{ id: randomUUID(), role: "user" as const, content: "Hello" }];
  return {
    threadId: randomUUID(),
    runId: randomUUID(),
    protocolVersion: "1.0",
    state: {},
    messages,
    tools: [],
    context: [],
    forwardedProps: {},
  };
}

function headersOf(given: readonly string[]): Headers {
  const headers = new Headers();
  for (const text of given) {
    const [, name = "", value = ""] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
    if (name === "") throw new Error(`--header must be <name>: <value>, not ${text}.`);
    headers.set(name, value);
  }
  return headers;
}

function wordsOf(finding: Finding): string {
  const { index, type = "the stream", rule, message } = finding;
  if (!("clause" in finding)) return `event ${index}  warning ${rule}  ${type}\n  ${message}\n`;
  const { clause, fix } = finding;
  return `event ${index}  ${rule}  ${type}\n  ${message}\n  Why: ${clause}\n  Do: ${fix}\n`;
}

function numberOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
