import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { respond } from "../agent/script.ts";

type Result = { tool: string; input: object; output: unknown };

function ask(text: string, ...results: Result[]) {
  const prompt: LanguageModelV4Prompt = [
    { role: "user", content: [{ type: "text", text }] },
    ...results.flatMap(({ tool: toolName, input, output }, at): LanguageModelV4Prompt => {
      const toolCallId = `c${at}`;
      return [
        { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId, toolName, output: output as never }],
        },
      ];
    }),
  ];
  const parts = respond(prompt);
  return {
    said: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" "),
    calls: parts.flatMap((part) =>
      part.type === "tool-call" ? [[part.toolName, part.input]] : [],
    ),
  };
}

test.each([
  ["What is the weather in Oslo?", [["weather", { city: "Oslo" }]]],
  [
    "weather in Oslo, New York and Lisbon please",
    [
      ["weather", { city: "Oslo" }],
      ["weather", { city: "New York" }],
      ["weather", { city: "Lisbon" }],
    ],
  ],
  ["Where am I?", [["location", { reason: "You asked where you are" }]]],
  ["what's the weather here", [["location", { reason: "To look up the weather where you are" }]]],
])("%s", (text, calls) => {
  expect(ask(text).calls).toEqual(calls);
});

test.each([
  ["send 50 EUR to Ben", 50, "EUR", "Ben", "With thanks"],
  ["Please pay €12,50 to Ana Lind for coffee.", 12.5, "EUR", "Ana Lind", "Coffee"],
  ["transfer 7 dollars to Cleo for the taxi", 7, "USD", "Cleo", "The taxi"],
])("%s", (text, amount, currency, to, reference) => {
  expect(ask(text).calls).toEqual([
    ["transfer", { from: "Everyday account", to, amount, currency, reference }],
  ]);
});

test("several kinds of call go out together", () => {
  const { calls } = ask("What is the weather in Oslo, and send 50 EUR to Ben for lunch");
  expect(calls.map(([name]) => name)).toEqual(["weather", "transfer"]);
});

test("the weather here asks where first, and then looks there", () => {
  const output = { type: "json", value: { place: "Lisbon" } };
  const { calls } = ask("weather here?", { tool: "location", input: {}, output });
  expect(calls).toEqual([["weather", { city: "Lisbon" }]]);
});

test("a declined location is not asked for again", () => {
  const output = { type: "error-text", value: "The person would rather not say." };
  const { calls, said } = ask("weather here?", { tool: "location", input: {}, output });
  expect(calls).toEqual([]);
  expect(said).toContain("would rather not say");
});

test.each([
  [{ type: "execution-denied", reason: "Too much." }, "was denied: “Too much.”"],
  [{ type: "execution-denied" }, "was denied, without a reason"],
  [
    { type: "error-text", value: "Not executed: the user denied this call: Too much." },
    "was denied: “Too much.”",
  ],
  [{ type: "error-text", value: "Not executed: the user denied this call." }, "without a reason"],
  [{ type: "error-text", value: "Outcome unknown: the call failed." }, "I cannot tell whether"],
  [{ type: "error-text", value: "Not executed: the call was cancelled." }, "did not happen"],
  [
    { type: "json", value: { receipt: "HF-1", to: "Ben", amount: 45, currency: "EUR" } },
    "**45.00 EUR** went to Ben",
  ],
])("a transfer that came to %j", (output, words) => {
  const { said } = ask("send 50 EUR to Ben", { tool: "transfer", input: { to: "Ben" }, output });
  expect(said).toContain(words);
});

test("anything else is met with what it can do", () => {
  expect(ask("colourless green ideas").said).toContain("I follow a script");
});
