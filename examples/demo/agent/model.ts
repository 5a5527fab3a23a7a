import { setTimeout as sleep } from "node:timers/promises";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { scriptedModel } from "@holdfast/sdk/testing";
import type { LanguageModel } from "ai";
import { respond } from "./script.ts";

/** The model the agent asks, and what to call it. */
export interface ChosenModel {
  readonly model: LanguageModel;
  readonly name: string;
}

/** A provider's model where its key is set, else the script, which needs neither key nor network. */
export function chooseModel(env: NodeJS.ProcessEnv): ChosenModel {
  const openai = env["OPENAI_API_KEY"];
  if (openai) {
    const name = env["OPENAI_MODEL"] || "gpt-5-mini";
    const baseURL = env["OPENAI_BASE_URL"];
    const provider = createOpenAI({ apiKey: openai, ...(baseURL && { baseURL }) });
    return { model: provider.responses(name), name: `OpenAI ${name}` };
  }
  const anthropic = env["ANTHROPIC_API_KEY"];
  if (anthropic) {
    const name = env["ANTHROPIC_MODEL"] || "claude-sonnet-4-5";
    const baseURL = env["ANTHROPIC_BASE_URL"];
    const provider = createAnthropic({ apiKey: anthropic, ...(baseURL && { baseURL }) });
    return { model: provider(name), name: `Anthropic ${name}` };
  }
  const paceMs = Number(env["HOLDFAST_DEMO_PACE_MS"] ?? 45);
  return {
    model: scriptedModel({
      respond,
      delayMs: paceMs,
      // Nobody types like a clock.
      sleep: (ms, signal) => sleep(ms * (0.5 + Math.random()), undefined, signal ? { signal } : {}),
    }),
    name: "a script (set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real model)",
  };
}
