/** Any JSON value. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Material of a framework or an application beside what the protocol models, keyed by who owns it. */
export type Metadata = Record<string, unknown>;

/** Whether a value of unknown origin is an object with named members: no array, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
