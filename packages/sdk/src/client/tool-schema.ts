import type { Json } from "@holdfast/protocol";

/**
 * A schema of any library that follows Standard Schema, as far as it is used here. `jsonSchema` is its extension for
 * JSON Schema; zod has it from 4.2 on.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a tool may say its arguments or result are: JSON Schema as it is, or a Standard Schema. */
export type ToolSchema<Output = unknown> = Record<string, unknown> | StandardSchema<Output>;

/**
 * The schema as JSON Schema.
 *
 * @throws {TypeError} where its library cannot convert it: convert it first, and pass what comes out
 */
export function toJsonSchema(schema: ToolSchema): Record<string, unknown> {
  if (!isStandard(schema)) return schema;
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema) return jsonSchema.input({ target: "draft-2020-12" });
  throw new TypeError(
    `This schema of ${vendor} does not say itself as JSON Schema: convert it, and pass that (for zod, z.toJSONSchema).`,
  );
}

/**
 * What the schema makes of a value: a Standard Schema may convert it, JSON Schema is the server's to check.
 *
 * @throws {InvalidValue} naming each path that does not fit
 */
export async function parseWith(schema: ToolSchema | undefined, value: Json): Promise<unknown> {
  if (!schema || !isStandard(schema)) return value;
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  throw new InvalidValue(result.issues.map(nameIssue));
}

/** Arguments that do not fit. The message is for the model. */
export class InvalidValue extends Error {
  constructor(problems: readonly string[]) {
    super(`Invalid arguments: ${problems.join("; ")}`);
    this.name = "InvalidValue";
  }
}

function isStandard(schema: ToolSchema): schema is StandardSchema {
  return "~standard" in schema && typeof schema["~standard"] === "object";
}

function nameIssue({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return `${keys.length === 0 ? "(root)" : `/${keys.join("/")}`}: ${message}`;
}
