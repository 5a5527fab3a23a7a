import type { Call } from "@holdfast/protocol";
import { createArgumentScanner } from "./partial-arguments.ts";

/** The two most telling arguments of a call, as one line of text. */
export function gistOf(call: Call): string {
  if (call.argumentsEncoding === "text") return call.arguments.slice(0, 120);
  const members = createArgumentScanner().read(call.arguments.slice(0, 2_000));
  const required = requiredKeys(call);
  return members
    .filter(({ text }) => text !== "" && text !== "null")
    .map((member, at) => ({ member, rank: weight(member, required) + at }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, 2)
    .map(({ member }) => oneLine(member.text))
    .join(" · ");
}

/** Required and short members first; nested ones say little in a line. */
function weight(member: { key: string; text: string }, required: readonly string[]): number {
  const nested = /^[{[]/.test(member.text);
  return (
    (required.includes(member.key) ? 0 : 10) +
    (nested ? 100 : 0) +
    (member.text.length > 60 ? 50 : 0)
  );
}

function requiredKeys(call: Call): readonly string[] {
  const required = call.tool?.parameters?.["required"];
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 48 ? `${line.slice(0, 47)}…` : line;
}
