import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { executionOf, type ToolPolicies } from "@holdfast/sdk/agent";
import { tool } from "ai";
import { z } from "zod";
import { weatherOf } from "./weather.ts";

/** The three kinds of tool: one the agent runs, one a browser runs, one that a person lets run. */
export const tools = {
  weather: tool({
    description:
      "The current weather of a place. Give a city, or latitude and longitude. The demo makes it up.",
    inputSchema: z.object({
      city: z.string().optional(),
      latitude: z.number().min(-90).max(90).optional(),
      longitude: z.number().min(-180).max(180).optional(),
    }),
    async execute(place, { abortSignal }) {
      await sleep(1_200, undefined, abortSignal ? { signal: abortSignal } : {});
      return weatherOf(place, new Date());
    },
  }),

  location: tool({
    description:
      "Asks the person's browser where they are. They may share it, name a place instead, or decline.",
    inputSchema: z.object({
      reason: z.string().optional().describe("Why you need it; the person reads this"),
    }),
    outputSchema: z.object({
      place: z.string().optional(),
      latitude: z.number().optional(),
      longitude: z.number().optional(),
      accuracyMetres: z.number().optional(),
      source: z.string(),
    }),
  }),

  transfer: tool({
    description: "Sends money from one of the person's accounts. A person approves each one first.",
    inputSchema: z.object({
      from: z.string().optional().describe("The account to send from"),
      to: z.string().min(1).describe("Who gets it"),
      amount: z.number().positive().max(1_000_000),
      currency: z.enum(["EUR", "USD", "GBP", "CHF", "NOK", "SEK", "DKK", "JPY"]),
      reference: z.string().max(140).optional().describe("What the receiver reads"),
    }),
    async execute({ to, amount, currency }, options) {
      const { idempotencyKey } = executionOf(options);
      // No abort from here on: a bank that has begun to send does not stop.
      await sleep(1_500);
      return { receipt: receiptOf(idempotencyKey), to, amount, currency };
    },
  }),
};

export const policies: ToolPolicies<typeof tools> = {
  weather: { retry: "safe" },
  location: { retry: "safe" },
  transfer: { approval: "always", sideEffects: true },
};

/** The same call has the same receipt, as a bank that knows idempotency keys would give it. */
function receiptOf(idempotencyKey: string): string {
  return `HF-${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 8)}`;
}
