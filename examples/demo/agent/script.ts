import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ScriptedPart } from "@holdfast/sdk/testing";
import { intentOf, type Intent } from "./intent.ts";
import { readPrompt, type Result } from "./read-turn.ts";
import { say } from "./say.ts";
import { story } from "./story.ts";

/** What the scripted model answers: tool calls as long as something is left to find out, then words. */
export function respond(prompt: LanguageModelV4Prompt): readonly ScriptedPart[] {
  const { text, results } = readPrompt(prompt);
  const intent = intentOf(text);
  const calls = callsFor(intent, results);
  if (calls.length > 0) return [{ type: "text", text: introduce(intent, results) }, ...calls];
  if (results.length > 0) return [{ type: "text", text: results.map(say).join("\n\n") }];
  if (intent.story) return [{ type: "text", text: story }];
  return [{ type: "text", text: intent.greeting ? hello + help : help }];
}

function callsFor(intent: Intent, results: readonly Result[]): ScriptedPart[] {
  if (results.length === 0)
    return [
      ...(intent.here ? [locationCall(intent)] : []),
      ...intent.cities.map((city) => call("weather", { city })),
      ...intent.transfers.map((transfer) => call("transfer", { ...transfer })),
    ];
  const located = results.find(({ tool }) => tool === "location");
  const looked = results.some(({ tool }) => tool === "weather");
  if (!intent.weatherHere || looked || located?.outcome !== "ok") return [];
  const place = located.value;
  return typeof place === "object" && place !== null ? [call("weather", whereOf(place))] : [];
}

/** What a location's answer tells the weather: a named place, or coordinates. */
function whereOf(place: object): Record<string, unknown> {
  const { place: city, latitude, longitude } = place as Record<string, unknown>;
  return city === undefined ? { latitude, longitude } : { city };
}

function locationCall({ weatherHere }: Intent): ScriptedPart {
  const reason = weatherHere ? "To look up the weather where you are" : "You asked where you are";
  return call("location", { reason });
}

function call(toolName: string, input: Record<string, unknown>): ScriptedPart {
  return { type: "tool-call", toolName, input };
}

function introduce(intent: Intent, results: readonly Result[]): string {
  if (results.length > 0) return "Thank you. Now the weather there.";
  if (intent.transfers.length > 0 && (intent.here || intent.cities.length > 0))
    return "I will do these together. The transfer needs somebody's approval first.";
  if (intent.transfers.length > 0)
    return "I have prepared the transfer. It needs somebody's approval before anything is sent.";
  if (intent.weatherHere) return "For that I need to know where you are.";
  if (intent.here) return "Your browser knows that better than I do.";
  return intent.cities.length > 1 ? "I will look these up." : "I will look that up.";
}

const hello =
  "Hello. I am a scripted stand-in for a model, so that this demo needs no key. Everything around me is real: the server, the agent, the tools and the log.\n\n";

const help = `I follow a script, so I understand only a few things:

- **What is the weather in Oslo and Lisbon?** runs a tool of the agent, here twice at once.
- **Where am I?** asks a browser, which asks you.
- **What is the weather here?** does the one after the other.
- **Send 50 EUR to Ben for lunch** waits until a person approves.
- **Tell me a long story** gives you time to reload, stop me, or kill something.
- **What is the weather in Atlantis?** shows a tool that fails.

With OPENAI_API_KEY or ANTHROPIC_API_KEY set, a real model takes my place.`;
