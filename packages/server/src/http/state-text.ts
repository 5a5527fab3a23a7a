import type { Snapshot } from "../engine/index.ts";

/** The JSON of a state as every face sends it: with the offset it holds for, and for whom it was made. */
export function stateText({ offset, text, visibility }: Snapshot): string {
  const made = visibility === undefined ? "" : `,"visibility":${JSON.stringify(visibility)}`;
  return `{"offset":${JSON.stringify(offset)}${made},"state":${text}}`;
}
