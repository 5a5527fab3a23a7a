import { AG_UI_RULES, type AgUiViolation } from "@holdfast/protocol/ag-ui";

/** One thing that a stream holds: what should be an event, or what is wrong with how it was written. */
export type Recorded =
  | { readonly event: unknown }
  | { readonly problem: Omit<AgUiViolation, "index"> };

/** The longest event that stock clients read: in characters as text, in bytes as protobuf. */
export const LONGEST = 10 * 1024 * 1024;

/** A problem of the bytes of a stream, which no event is to blame for. */
export function misread(message: string): Recorded {
  return { problem: { rule: "D13", message, ...AG_UI_RULES.D13 } };
}
