import {
  createAgUiReader,
  endAgUi,
  readAgUi,
  type AgUiViolation,
  type AgUiWarning,
  type VerifyOptions,
} from "@holdfast/protocol/ag-ui";
import type { Recorded } from "./recorded-item.ts";

/** Something that was found in a stream, at its first event; `count`: how many events gave it. */
export type Finding = (AgUiViolation | AgUiWarning) & {
  readonly index: number;
  /** Of the event; none where it is the stream that is wrong. */
  readonly type?: string;
  count: number;
};

export interface Findings {
  readonly events: number;
  readonly violations: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/**
 * Reads a whole stream and lists what is wrong with it, beyond its first violation too: an event that was refused is
 * as if it had not come. `onFind` is told of each finding when it comes up first.
 */
export async function verifyStream(
  stream: AsyncIterable<Recorded>,
  options: VerifyOptions,
  onFind?: (finding: Finding) => void,
): Promise<Findings> {
  const reader = createAgUiReader(options);
  const violations = new Map<string, Finding>();
  const warnings = new Map<string, Finding>();
  const note = (
    found: Map<string, Finding>,
    what: AgUiViolation | AgUiWarning,
    index: number,
    type?: string,
  ) => {
    const key = JSON.stringify([what.rule, what.message]);
    const known = found.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    const finding = { ...what, index, ...(type !== undefined && { type }), count: 1 };
    found.set(key, finding);
    onFind?.(finding);
  };
  for await (const item of stream) {
    const index = reader.events;
    if ("problem" in item) {
      note(violations, item.problem, index);
      continue;
    }
    const type = typeOf(item.event);
    const read = readAgUi(reader, item.event);
    for (const warning of read.warnings) note(warnings, warning, index, type);
    if (read.violation) note(violations, read.violation, index, type);
  }
  const end = endAgUi(reader);
  if (end) note(violations, end, reader.events);
  return {
    events: reader.events,
    violations: [...violations.values()],
    warnings: [...warnings.values()],
  };
}

function typeOf(event: unknown): string | undefined {
  const type: unknown = (event as { readonly type?: unknown } | null)?.type;
  return typeof type === "string" ? type : undefined;
}
