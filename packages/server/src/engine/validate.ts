import { Ajv, type AnySchema, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  HoldfastError,
  reject,
  type InvalidArguments,
  type Policy,
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
/** How often compiling or checking may fail to end before the schema is not used any more. */
const MAX_STRIKES = 3;

/** Validates arguments against their tools' JSON Schemas. */
export interface Validator {
  /** What is wrong with parsed arguments, or undefined where nothing is or the tool has no schema. */
  readonly validate: (tool: ToolDeclaration, value: unknown) => InvalidArguments | undefined;
  /** @throws HoldfastError `invalid_request` for a schema that cannot be used, saying why */
  readonly check: (tools: readonly ToolDeclaration[]) => void;
  /** The same of the schemas in a policy's rules. */
  readonly checkPolicy: (policy: Partial<Policy>) => void;
}

/**
 * JSON Schema by ajv, 2020-12 unless the schema says draft-07. Compiled schemas are kept by their text. Nothing is
 * fetched: a reference that leads out of the schema makes it unusable. Formats are not checked. Neither a schema nor
 * arguments can make a check throw or go on for ever: arguments that cannot be checked are refused.
 */
export function createValidator(): Validator {
  const cache = new Map<string, Compiled>();
  const dialectOf = createDialects();

  function compiled(schema: Record<string, unknown>): Compiled {
    const text = textOf(schema);
    if (text === undefined) return unusable("it is nested too deep");
    const before = cache.get(text);
    let known = before;
    cache.delete(text);
    if (!known || (known.unfinished && known.strikes < MAX_STRIKES)) {
      // Before the time runs: it is not this schema's, and being cut off in it would spoil it for all others.
      const dialect = dialectOf(schema);
      const strikes = (before?.strikes ?? 0) + 1;
      known = within(
        COMPILE_MS,
        () => compile(schema, text, dialect),
        (problem) => ({
          ...unusable(problem),
          unfinished: true,
          strikes,
        }),
      );
    }
    cache.set(text, known);
    if (cache.size > MAX_CACHED) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest);
        break;
      }
    }
    return known;
  }

  function check(name: string, what: string, schema: Record<string, unknown> | undefined): void {
    const problem = schema && compiled(schema).problem;
    if (problem === undefined) return;
    throw new HoldfastError(
      reject("invalid_request", `The ${what} of tool ${name} cannot be used: ${problem}.`, {
        tool: name,
      }),
    );
  }

  return {
    validate({ name, parameters }, value) {
      if (!parameters) return undefined;
      const schema = compiled(parameters);
      const { check: test, problem } = schema;
      if (!test) return { message: `The schema of tool ${name} cannot be used: ${problem}.` };
      if (schema.strikes >= MAX_STRIKES) {
        return {
          message: `The schema of tool ${name} cannot be used: checking by it did not end.`,
        };
      }
      return within(
        CHECK_MS,
        () => (test(value) ? undefined : describe(test.errors ?? [])),
        (why) => {
          schema.strikes += 1;
          return { message: `The arguments cannot be checked by the schema of ${name}: ${why}.` };
        },
      );
    },
    check(tools) {
      for (const { name, parameters, result } of tools) {
        check(name, "schema", parameters);
        check(name, "result schema", result);
      }
    },
    checkPolicy({ tools = [] }) {
      for (const { tool, approval } of tools) {
        if (typeof approval === "object") check(tool, "rule", approval.when);
      }
    },
  };
}

/** The schema's text, unless that takes more stack than there is. */
function textOf(schema: Record<string, unknown>): string | undefined {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Compiled {
  readonly check?: ValidateFunction;
  /** Why there is no check. */
  readonly problem?: string;
  /** Whether compiling did not end: the machine may have been too busy for it. */
  readonly unfinished?: boolean;
  strikes: number;
}

function unusable(problem: string): Compiled {
  return { problem, strikes: 0 };
}

const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  logger: false,
  // An argument may be called `constructor`, and is missing where it is only inherited.
  ownProperties: true,
} as const;

/** A version of JSON Schema. */
interface Dialect {
  /** Checks schemas themselves. Its own schema is compiled. */
  readonly meta: Ajv | Ajv2020;
  readonly create: (options: Options) => Ajv | Ajv2020;
}

function createDialects(): (schema: Record<string, unknown>) => Dialect {
  const known = new Map<string, Dialect>();
  return ({ $schema }) => {
    const name = typeof $schema === "string" && $schema.includes("draft-07") ? "07" : "2020";
    let dialect = known.get(name);
    if (!dialect) {
      const create = (options: Options) =>
        name === "07" ? new Ajv(options) : new Ajv2020(options);
      const meta = create(OPTIONS);
      void meta.validateSchema({});
      known.set(name, (dialect = { meta, create }));
    }
    return dialect;
  };
}

function compile(
  schema: Record<string, unknown>,
  text: string,
  { meta, create }: Dialect,
): Compiled {
  if (text.length > MAX_SCHEMA) return unusable(`it is longer than ${MAX_SCHEMA} characters`);
  // Its check would give a promise, which is true.
  if ("$async" in schema) return unusable("$async is not supported");
  const { $schema: _, ...plain } = schema;
  try {
    if (meta.validateSchema(plain) !== true) {
      return unusable(describe(meta.errors ?? []).message.replace(/\.$/, ""));
    }
    // An instance of its own, so that the ids of one schema never meet those of another.
    const ajv = create({ ...OPTIONS, meta: false, validateSchema: false });
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
