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
