import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { auditKey } from "../audit/key.ts";
import { linesOf } from "../audit/lines.ts";
import { auditExport } from "./audit-export.ts";
import { verifyAudit, type AuditFinding } from "../audit/verify.ts";

/**
 * `holdfast audit verify <file>`: checks an exported audit, offline, and fails where it is not as it was signed.
 * `holdfast audit export`: see {@link auditExport}. `holdfast audit key`: prints the public key that the secret signs with.
 */
export async function audit(args: readonly string[]): Promise<void> {
  if (args[0] === "export") return auditExport(args.slice(1));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { key: { type: "string", multiple: true } },
  });
  const [what, file, ...more] = positionals;
  if (what === "key" && file === undefined) return console.log(ownKey());
  if (what !== "verify" || file === undefined || more.length > 0) {
    throw new Error(
      "Say `holdfast audit export <session>`, `holdfast audit verify <file> [--key <public key>]` or `holdfast audit key`.",
    );
  }
  const lines = linesOf(createReadStream(file));
  const found = await verifyAudit(lines, { keys: values.key ?? [ownKey()] });
  console.log(wordsOf(found, file));
  if (!found.ok) process.exitCode = 1;
}

function ownKey(): string {
  const secret = process.env["HOLDFAST_SECRET"];
  if (secret !== undefined && secret !== "") return auditKey(Buffer.from(secret)).publicKey;
  throw new Error(
    "There is no key to check signatures with: give --key <public key>, as `holdfast audit key` prints it where HOLDFAST_SECRET is set.",
  );
}

function wordsOf(found: AuditFinding, file: string): string {
  const {
    session = "",
    after = 0,
    records,
    refusals,
    checkpoints,
    withoutContent,
    upTo,
    broken,
  } = found;
  if (broken) return `${file} is broken at line ${broken.line}. ${broken.why}`;
  const until = new Date(upTo?.at ?? 0).toISOString();
  const without =
    withoutContent > 0
      ? `\n${withoutContent} without what they say: it was erased or left out. Their digests are in the chain.`
      : "";
  const from = after > 0 ? `, only from record ${after + 1}` : "";
  return `${file} is as it was signed: session ${JSON.stringify(session)}${from} up to ${until}, record ${records}; refusals kept: ${refusals}; checkpoints: ${checkpoints}.${without}`;
}
