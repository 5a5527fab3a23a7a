import { nearestPlace } from "./places.ts";
import type { Result } from "./read-turn.ts";

/** Puts the result of a call into words, whatever became of it. */
export function say(result: Result): string {
  if (result.outcome === "waiting") return `The ${result.tool} is not done yet.`;
  switch (result.tool) {
    case "weather":
      return sayWeather(result);
    case "location":
      return sayLocation(result);
    case "transfer":
      return sayTransfer(result);
    default:
      return `The ${result.tool} said: ${text(result.value)}`;
  }
}

function sayWeather({ outcome, value }: Result): string {
  if (outcome !== "ok") return `I could not get the weather. ${text(value)}`;
  const { place, temperatureC, sky, windKmh } = fields(value);
  const where = text(place).startsWith("near ") ? capital(text(place)) : `In ${text(place)}`;
  return `${where} it is **${text(temperatureC)} °C** with ${text(sky)} and wind at ${text(windKmh)} km/h. (I made that up: this is a demo.)`;
}

function sayLocation({ outcome, value }: Result): string {
  if (outcome !== "ok")
    return `I do not know where you are: ${lower(text(value))} Name a city if you like, and I will use that.`;
  const { place, latitude, longitude, accuracyMetres } = fields(value);
  if (typeof latitude === "number" && typeof longitude === "number") {
    const near = nearestPlace(latitude, longitude);
    const exactness =
      typeof accuracyMetres === "number" ? `, give or take ${accuracyMetres} m` : "";
    return `You are at ${latitude}, ${longitude}${exactness}. That is ${Math.round(near.distance)} km from ${near.name}.`;
  }
  return `You are in ${text(place)}, going by what was typed.`;
}

function sayTransfer({ outcome, value, input }: Result): string {
  const to = text(input["to"]);
  if (outcome !== "ok") return sayUnsent(to, outcome, text(value));
  const { receipt, amount, currency, to: receiver } = fields(value);
  const sum = typeof amount === "number" ? amount.toFixed(2) : text(amount);
  return `Done: **${sum} ${text(currency)}** went to ${text(receiver)}. The receipt is ${text(receipt)}.`;
}

function sayUnsent(to: string, outcome: Result["outcome"], words: string): string {
  if (outcome === "denied") {
    if (words === "")
      return `The transfer to ${to} was denied, without a reason. Nothing was sent.`;
    const stop = /[.!?…]$/.test(words) ? "" : ".";
    return `The transfer to ${to} was denied: “${words}”${stop} Nothing was sent.`;
  }
  if (/unknown/i.test(words))
    return `I cannot tell whether the transfer to ${to} went through. ${words} Please check before asking again.`;
  return `The transfer to ${to} did not happen. ${words}`;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === "string"
    ? value.replace(/^Error: /, "")
    : value === undefined
      ? ""
      : JSON.stringify(value);
}

function capital(words: string): string {
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

function lower(words: string): string {
  return words.charAt(0).toLocaleLowerCase() + words.slice(1);
}
