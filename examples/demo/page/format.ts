/** A principal as people say it: `user:Ana` is Ana. */
export function nameOf(principal: string): string {
  const name = principal.slice(principal.indexOf(":") + 1);
  return name === "" ? principal : name;
}

/** Whether a principal is a person, as far as its kind says. */
export function isPerson(principal: string): boolean {
  return principal.startsWith("user:");
}

/** One or two letters that stand for a name. */
export function initialsOf(name: string): string {
  const words = name
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  const initials = letters.map((word) => Array.from(word ?? "")[0] ?? "").join("");
  return initials === "" ? "?" : initials.toLocaleUpperCase();
}

/** An id cut in the middle, so that its kind and its last characters stay readable. */
export function shortId(id: string, length = 14): string {
  if (id.length <= length) return id;
  const tail = Math.floor((length - 1) / 2);
  return `${id.slice(0, length - 1 - tail)}…${id.slice(-tail)}`;
}

/** An offset without the leading zeros of its sequence; for people only. */
export function shortOffset(offset: string): string {
  return offset.slice(offset.lastIndexOf(".") + 1).replace(/^0+(?=\d)/, "");
}

/** Milliseconds as a person would say them. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms / 10) * 10)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** How long ago, in the coarsest unit that still tells. */
export function ago(at: number, now: number): string {
  const seconds = Math.floor((now - at) / 1_000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

/** Hours and minutes; with the day when it is not today. */
export function clock(at: number, now: number = at): string {
  const time = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const day = new Date(at).toDateString();
  if (day === new Date(now).toDateString()) return time;
  return `${new Date(at).toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}

/** To the millisecond, for hovering. */
export function exact(at: number): string {
  const date = new Date(at);
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${date.toLocaleDateString([], { dateStyle: "medium" })}, ${date.toLocaleTimeString([], { hourCycle: "h23" })}.${ms}`;
}

/** `1 message`, `2 messages`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function list(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
}

/** A key of an object as a label: `homeAddress` is Home address, `temperatureC` is Temperature C. */
export function keyLabel(key: string): string {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z0-9]+$/.test(word) ? word : word.toLocaleLowerCase()))
    .join(" ");
  return words === "" ? key : words.charAt(0).toLocaleUpperCase() + words.slice(1);
}
