import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

// Every sentence of the specification's chapter on tool calls that says MUST, SHOULD or MAY, and the tests that are
// named after it: of a stream as it is read (seed), of what is sent (tool-calls), of what is taken from an agent
// (ingest, upstream), and of a server and its clients (face).

const PACKAGES = fileURLToPath(new URL("../../../", import.meta.url));
const FILES = {
  seed: "protocol/test/ag-ui/seed.test.ts",
  "tool-calls": "protocol/test/ag-ui/tool-calls.test.ts",
  "ingest calls": "protocol/test/ag-ui/ingest/calls.test.ts",
  "ingest ends": "protocol/test/ag-ui/ingest/ends.test.ts",
  upstream: "server/test/upstream/answers.test.ts",
  face: "server/test/faces/ag-ui/seed.test.ts",
} as const;

type Named = readonly [keyof typeof FILES, string];

const SENTENCES: readonly (readonly [string, ...Named[]])[] = [
  [
    "the call MUST agree with that attribution",
    ["seed", "the call MUST agree with that attribution"],
    ["tool-calls", "the call MUST agree with that attribution"],
    ["face", "a call agrees with the attribution of the message that carries it"],
  ],
  [
    "A consumer MUST NOT act on the arguments before `TOOL_CALL_END`",
    ["seed", "a consumer MUST NOT act on the arguments before TOOL_CALL_END"],
    ["face", "nobody acts on the arguments before TOOL_CALL_END"],
  ],
  [
    "A closed call, like a closed message, MAY be reopened",
    ["seed", "a closed call MAY be reopened by a new TOOL_CALL_START"],
    ["ingest calls", "a closed call may be reopened, and further arguments append"],
  ],
  [
    "A reopening start MUST agree with the call it reopens",
    ["seed", "a reopening start MUST agree with the call it reopens"],
    ["tool-calls", "a reopening start MUST agree with the call it reopens"],
    ["face", "a reopening start agrees with the call it reopens"],
  ],
  ["A consumer MUST expand chunks", ["seed", "a consumer MUST expand chunks"]],
  [
    "the first chunk MUST carry `toolCallId` and `toolCallName`",
    ["seed", "the first chunk MUST carry toolCallId and toolCallName"],
    ["seed", "a continuation repeating toolCallName or parentMessageId with a conflicting value"],
    ["ingest calls", "chunks are expanded: the first carries toolCallId and toolCallName"],
  ],
  [
    "A result MAY arrive in the same run as its call",
    ["seed", "a result MAY arrive in the same run as its call, or never"],
    ["ingest calls", "an agent-executed tool answers in-stream via TOOL_CALL_RESULT"],
  ],
  [
    "A producer that calls a frontend tool MUST NOT answer it",
    ["seed", "a producer that calls a frontend tool MUST NOT answer it: no TOOL_CALL_RESULT"],
    [
      "seed",
      "a producer that calls a frontend tool MUST NOT answer it: no fabricated tool message",
    ],
    ["tool-calls", "a producer that calls a frontend tool MUST NOT answer it"],
    ["ingest calls", "a producer that answers a frontend tool breaks the protocol"],
    ["upstream", "a producer that answers one fails its run, by rule and event"],
    ["face", "a frontend tool is not answered by the producer, whatever its agent tries"],
  ],
  [
    "SHOULD do so promptly once nothing remains that does not depend on the result",
    ["tool-calls", "the producer finishes the run with the calls unanswered"],
    ["face", "the run finishes as soon as nothing but the calls is left, several at once"],
  ],
  [
    "Several frontend calls MAY be left unanswered by one run",
    ["seed", "several frontend calls MAY be left unanswered by one run"],
    ["tool-calls", "several frontend calls MAY be left unanswered by one run"],
  ],
  [
    "A thread that continues MUST answer every one of them first",
    ["tool-calls", "the next run's messages carry a tool message per call, keyed by toolCallId"],
    ["upstream", "every one of them is answered first; a failure is an answer with error set"],
    ["upstream", "a thread that goes on another way has its open calls answered all the same"],
    ["face", "a thread that continues answers every call first"],
    ["face", "a failure is still an answer, with error set"],
    ["face", "a call that the user declined is answered by saying so"],
    ["face", "abandoning the thread answers nothing and violates nothing"],
  ],
  [
    "A producer SHOULD call frontend tools only from the advertised list",
    [
      "seed",
      "a call naming a tool the input did not advertise is not by itself a protocol violation",
    ],
    ["face", "what clients advertised they execute, and a name that nobody did is the agent's"],
  ],
  [
    "Arguments are model-generated and MUST be treated as untrusted input",
    ["face", "arguments are untrusted: what does not fit the advertised schema is never offered"],
  ],
  [
    "Applications SHOULD obtain user consent before executing a side-effectful tool call, and MUST NOT represent a call as user-approved",
    [
      "ingest ends",
      "a side-effectful call asks first, and is never shown as approved when it was not",
    ],
    ["ingest calls", "a call is not represented as approved when it was not"],
    ["tool-calls", "a call MUST NOT be represented as user-approved when it was not"],
    ["face", "a call is not represented as approved when it was not"],
  ],
  [
    "A consumer MUST NOT treat text inside a result as protocol material",
    ["seed", "a consumer MUST NOT treat text inside a result as protocol material"],
    ["tool-calls", "text inside a result is not protocol material"],
    ["ingest calls", "a result's content is data"],
    ["face", "text inside a result is no protocol material"],
  ],
  [
    "A call naming a tool that was not advertised SHOULD NOT be executed without the same scrutiny",
    [
      "ingest calls",
      "a call naming a tool that was not advertised is not a violation, and nobody else's to",
    ],
    ["face", "what clients advertised they execute, and a name that nobody did is the agent's"],
  ],
];

it.each(SENTENCES.map(([sentence, ...tests]) => [sentence, tests] as const))(
  "has its tests: %s",
  (_sentence, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const [file, title] of tests) {
      const text = readFileSync(`${PACKAGES}${FILES[file]}`, "utf8");
      expect(text, file).toMatch(new RegExp(`\\(\\s*"seed: [^"]*${literal(title)}`));
    }
  },
);

const CHAPTER = `${PACKAGES}../../shared/seeds/ag-ui-tool-calls.md`;

it.skipIf(!existsSync(CHAPTER))("leaves none of the chapter out", () => {
  const known = SENTENCES.map(([sentence]) => sentence);
  const said = sentencesOf(readFileSync(CHAPTER, "utf8"));
  expect(said.filter((sentence) => !known.some((it) => sentence.includes(it)))).toEqual([]);
  expect(known.filter((it) => !said.some((sentence) => sentence.includes(it)))).toEqual([]);
});

/** What a text says in capitals, sentence by sentence, each on one line. */
function sentencesOf(text: string): string[] {
  const paragraphs = text
    .replaceAll(/```[\s\S]*?```|^>.*$/gm, "")
    .split(/\n\s*\n|\n(?=\* )/)
    .map((it) => it.replaceAll(/\s+/g, " "));
  return paragraphs
    .flatMap((it) => it.split(/(?<=[.;])\s|(?<=\w\)?):\s(?=[a-z])/))
    .filter((it) => /\b(?:MUST|SHOULD|MAY)\b/.test(it));
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
