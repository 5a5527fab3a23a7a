import type { Call } from "@holdfast/protocol";
import { argumentsOf } from "./rows.ts";

/** What will happen when a gated call is approved, in one sentence. */
export function sentenceOf(call: Call): string {
  const args = argumentsOf(call);
  if (call.name === "transfer" && args) {
    const from = text(args["from"]);
    const reference = text(args["reference"]);
    return [
      `Sends ${money(args["amount"], args["currency"])} to ${text(args["to"]) ?? "nobody named"}`,
      from === undefined ? "" : ` from ${from}`,
      reference === undefined ? "" : `, with the reference “${reference}”`,
      ". It cannot be taken back.",
    ].join("");
  }
  const description = call.tool?.description?.split("\n")[0];
  return description
    ? `Runs ${call.name} with the arguments above: ${description}`
    : `Runs ${call.name} with the arguments above.`;
}

function money(amount: unknown, currency: unknown): string {
  if (typeof amount !== "number") return `${text(amount) ?? "an amount that is not given"}`;
  const digits = amount.toLocaleString("en", {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  return `${digits} ${text(currency) ?? ""}`.trim();
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
