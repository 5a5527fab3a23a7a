import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProviderEvent, ProviderProtocol } from "./provider-endpoint.ts";

export interface Recording {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  readonly events: readonly ProviderEvent[];
}

const tests = dirname(dirname(fileURLToPath(import.meta.url)));

/** Small recordings of our own, written from the providers' documentation. */
export function ownRecordings(): Recording[] {
  return [
    ...read(join(tests, "fixtures"), "openai-responses"),
    ...read(join(tests, "fixtures"), "anthropic"),
  ];
}

/**
 * The recorded provider streams that are kept beside the checkout, or where `HOLDFAST_RECORDINGS` says.
 *
 * @returns undefined, with a line on the console, where they are not there
 */
export function recordings(): Recording[] | undefined {
  const beside = join(tests, "../../../../shared/recordings");
  const folder = process.env["HOLDFAST_RECORDINGS"] ?? beside;
  if (!existsSync(folder)) {
    console.warn(`No recordings in ${folder}: the tests that replay them are skipped.`);
    return undefined;
  }
  return [...read(folder, "openai-responses"), ...read(folder, "anthropic")];
}

function read(folder: string, protocol: ProviderProtocol): Recording[] {
  return readdirSync(join(folder, protocol))
    .filter((file) => file.endsWith(".jsonl"))
    .toSorted()
    .map((file) => ({
      name: `${protocol}/${basename(file, ".jsonl")}`,
      protocol,
      events: readFileSync(join(folder, protocol, file), "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => JSON.parse(line) as ProviderEvent),
    }));
}
