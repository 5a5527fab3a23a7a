import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { parseArgs } from "node:util";
import { variable } from "./environment.ts";

/**
 * `holdfast audit export <session>`: a session's audit from a server, as JSON lines, to where output goes or into a file,
 * which is there once it is whole. The token is HOLDFAST_TOKEN, with `admin` in that session.
 */
export async function auditExport(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: "string", default: "http://127.0.0.1:4646" },
      after: { type: "string", default: "0" },
      out: { type: "string" },
    },
  });
  const [session, ...more] = positionals;
  if (session === undefined || more.length > 0) {
    throw new Error(
      "Say `holdfast audit export <session> [--url <server>] [--after <record>] [--out <file>]`.",
    );
  }
  const lines = Readable.fromWeb(await fetchAudit(values.url, session, values.after));
  const { out } = values;
  if (out === undefined) return pipeline(lines, process.stdout, { end: false });
  const part = `${out}.part`;
  try {
    await pipeline(lines, createWriteStream(part));
  } catch (cause) {
    await rm(part, { force: true });
    throw new Error(`The export broke off, and ${out} was not written: ask again.`, { cause });
  }
  await rename(part, out);
}

async function fetchAudit(
  server: string,
  session: string,
  after: string,
): Promise<ReadableStream<Uint8Array>> {
  const token = variable("HOLDFAST_TOKEN");
  if (token === undefined) {
    throw new Error("HOLDFAST_TOKEN is not set: set it to a token with admin in the session.");
  }
  const path = `/v1/sessions/${encodeURIComponent(session)}/audit/export`;
  const url = URL.parse(`${server.replace(/\/+$/, "")}${path}`);
  if (!url) throw new Error(`--url must be like http://127.0.0.1:4646, not ${server}.`);
  url.searchParams.set("after", after);
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch(
    (cause: unknown) => {
      throw new Error(`${server} cannot be reached: is it running there?`, { cause });
    },
  );
  if (response.ok && response.body) return response.body as ReadableStream<Uint8Array>;
  const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown };
  const why = typeof detail === "string" ? `: ${detail}` : ".";
  throw new Error(`${server} answered ${response.status}${why}`);
}
