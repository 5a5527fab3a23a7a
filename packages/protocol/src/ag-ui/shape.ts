/** What AG-UI says about the value of one field. */
export type Shape =
  | { readonly is: "string" | "boolean" | "pointer" }
  | { readonly is: "integer"; readonly least: number }
  /** An object whose members the protocol leaves open. */
  | { readonly is: "object" }
  /** Any JSON value; `value`: any but null. */
  | { readonly is: "json" | "value" }
  | { readonly is: "choice"; readonly of: readonly string[] }
  | { readonly is: "list"; readonly of: Shape; readonly least: number }
  /** A string, or a list. */
  | { readonly is: "text or list"; readonly list: Shape }
  | RecordShape
  /** Records told apart by one member. */
  | {
      readonly is: "union";
      readonly by: string;
      readonly members: Readonly<Record<string, RecordShape>>;
    };

/** An object with the members it may have; `open`: others are none of the protocol's business, and stay. */
export interface RecordShape {
  readonly is: "record";
  readonly fields: Fields;
  readonly open: boolean;
}

export interface Field<Optional extends boolean = boolean> {
  readonly shape: Shape;
  readonly optional: Optional;
}

export type Fields = Readonly<Record<string, Field>>;

/** The fields of an AG-UI type, all of them, each marked as required or not as the library's type has it. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: Field<{} extends Pick<T, K> ? true : false>;
};

export const STRING: Shape = { is: "string" };
export const BOOLEAN: Shape = { is: "boolean" };
/** RFC 6901. */
export const POINTER: Shape = { is: "pointer" };
export const OBJECT: Shape = { is: "object" };
export const JSON_VALUE: Shape = { is: "json" };
export const NON_NULL: Shape = { is: "value" };
export const COUNT: Shape = { is: "integer", least: 0 };
export const INTEGER: Shape = { is: "integer", least: Number.MIN_SAFE_INTEGER };

export function required(shape: Shape): Field<false> {
  return { shape, optional: false };
}

export function optional(shape: Shape): Field<true> {
  return { shape, optional: true };
}

export function choice(...of: readonly string[]): Shape {
  return { is: "choice", of };
}

export function listOf(of: Shape, least = 0): Shape & { is: "list" } {
  return { is: "list", of, least };
}

export function record(fields: Fields, { open = false } = {}): RecordShape {
  return { is: "record", fields, open };
}

export function union(by: string, members: Readonly<Record<string, RecordShape>>): Shape {
  return { is: "union", by, members };
}
