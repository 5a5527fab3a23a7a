import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  HoldfastError,
  reject,
  type InvalidArguments,
  type ToolDeclaration,
} from "@holdfast/protocol";
import { within } from "./within.ts";

/** The longest schema that is compiled, in characters of JSON. */
const MAX_SCHEMA = 64 * 1024;
/** How many compiled schemas are kept. */
const MAX_CACHED = 500;
/** How many problems are named. */
const MAX_PROBLEMS = 8;
/** How long one check may take, in milliseconds: a pattern, or references to each other, can make it take for ever. */
const CHECK_MS = 250;
/** The same for compiling. */
const COMPILE_MS = 1000;
/** How many checks may fail to end before the schema is not used any more. */
const MAX_STRIKES = 3;

/** Validates arguments against their tools' JSON Schemas. */
export interface Validator {
  /** What is wrong with parsed arguments, or undefined where nothing is or the tool has no schema. */
  readonly validate: (tool: ToolDeclaration, value: unknown) => InvalidArguments | undefined;
  /** @throws HoldfastError `invalid_request` for a schema that cannot be used, saying why */
  readonly check: (tools: readonly ToolDeclaration[]) => void;
}

/**
 * JSON Schema by ajv, 2020-12 unless the schema says draft-07. Compiled schemas are kept by their text. Nothing is
 * fetched: a reference that leads out of the schema makes it unusable. Formats are not checked. Neither a schema nor
 * arguments can make a check throw or go on for ever: arguments that cannot be checked are refused.
 */
export function createValidator(): Validator {
  const cache = new Map<string, Compiled>();
  const metas = { draft07: new Ajv(OPTIONS), draft2020: new Ajv2020(OPTIONS) };

  function compiled(schema: Record<string, unknown>): Compiled {
    const text = JSON.stringify(schema);
    let known = cache.get(text);
    if (known) cache.delete(text);
    else known = within(COMPILE_MS, () => compile(schema, text, metas), unusable);
    cache.set(text, known);
    if (cache.size > MAX_CACHED) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest);
        break;
      }
    }
    return known;
  }

  return {
    validate({ name, parameters }, value) {
      if (!parameters) return undefined;
      const schema = compiled(parameters);
      const { check, problem } = schema;
      if (!check) return { message: `The schema of tool ${name} cannot be used: ${problem}.` };
      if (schema.strikes >= MAX_STRIKES) {
        return {
          message: `The schema of tool ${name} cannot be used: checking by it did not end.`,
        };
      }
      return within(
        CHECK_MS,
        () => (check(value) ? undefined : describe(check.errors ?? [])),
        (why) => {
          schema.strikes += 1;
          return { message: `The arguments cannot be checked by the schema of ${name}: ${why}.` };
        },
      );
    },
    check(tools) {
      for (const { name, parameters } of tools) {
        const problem = parameters && compiled(parameters).problem;
        if (problem === undefined) continue;
        throw new HoldfastError(
          reject("invalid_request", `The schema of tool ${name} cannot be used: ${problem}.`, {
            tool: name,
          }),
        );
      }
    },
  };
}

type Compiled =
  | { readonly check: ValidateFunction; readonly problem?: undefined; strikes: number }
  | { readonly check?: undefined; readonly problem: string };

function unusable(problem: string): Compiled {
  return { problem };
}

const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  logger: false,
  // An argument may be called `constructor`, and is missing where it is only inherited.
  ownProperties: true,
} as const;

function compile(
  schema: Record<string, unknown>,
  text: string,
  metas: { readonly draft07: Ajv; readonly draft2020: Ajv2020 },
): Compiled {
  if (text.length > MAX_SCHEMA) return unusable(`it is longer than ${MAX_SCHEMA} characters`);
  // Its check would give a promise, which is true.
  if ("$async" in schema) return unusable("$async is not supported");
  const old = typeof schema["$schema"] === "string" && schema["$schema"].includes("draft-07");
  const meta = old ? metas.draft07 : metas.draft2020;
  const { $schema: _, ...plain } = schema;
  try {
    if (meta.validateSchema(plain) !== true) {
      return unusable(describe(meta.errors ?? []).message.replace(/\.$/, ""));
    }
    // An instance of its own, so that the ids of one schema never meet those of another.
    const options = { ...OPTIONS, meta: false, validateSchema: false } as const;
    const ajv = old ? new Ajv(options) : new Ajv2020(options);
    return { check: ajv.compile(plain as AnySchema), strikes: 0 };
  } catch (error) {
    return unusable(error instanceof Error ? error.message : String(error));
  }
}

function describe(errors: readonly ErrorObject[]): InvalidArguments {
  const named = errors.slice(0, MAX_PROBLEMS);
  const message = named
    .map((error) => `${error.instancePath || "(root)"} ${error.message ?? error.keyword}`)
    .join("; ");
  return {
    message: `${message || "does not fit the schema"}.`,
    paths: [...new Set(named.map((error) => error.instancePath))],
  };
}
