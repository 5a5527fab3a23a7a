import { z } from "zod";
import type { Metadata } from "../json.ts";
import type { Policy } from "../policy.ts";
import type { ToolDeclaration } from "../tool.ts";
import * as f from "./fields.ts";
import { parse } from "./invalid.ts";

/** The body of `PUT /v1/sessions/{id}`. */
export interface SessionRequest {
  readonly agent?: string;
  /** The principal whose session it is to be; without one, the one who asks. */
  readonly owner?: string;
  readonly metadata?: Metadata;
  readonly policy?: Partial<Policy>;
  /** How long after the last accepted act it is deleted, in milliseconds. Default: never. */
  readonly ttlMs?: number;
}

/** The body of `POST /v1/work/claim`. */
export interface WorkRequest {
  readonly agent: string;
  readonly worker: string;
  /** Names the process under the worker's name, so that one process may hold several attempts. */
  readonly instance?: string;
  readonly wakeId?: string;
  /** Both, with the wake id: this run and no other. */
  readonly session?: string;
  readonly runId?: string;
  readonly waitMs?: number;
  /** False for an attempt that never claims its calls. Default true. */
  readonly claims?: boolean;
  readonly tools?: ToolDeclaration[];
  readonly complete?: boolean;
}

/** The body of `POST /v1/dev/token`: one of the two. */
export interface TokenRequest {
  readonly name?: string;
  readonly agent?: string;
}

/** The body of `POST /v1/revocations`: one of the two. */
export type RevocationRequest =
  | { readonly token: string }
  | { readonly principal: string; readonly before?: number };

/** @throws HoldfastError `invalid_request`, naming where */
export function parseRevocation(value: unknown): RevocationRequest {
  return parse(revocation, value, "revocation") as RevocationRequest;
}

/** @throws HoldfastError `invalid_request`, naming where */
export function parseSessionRequest(value: unknown): SessionRequest {
  return parse(sessionRequest, value, "session") as SessionRequest;
}

/** @throws HoldfastError `invalid_request`, naming where */
export function parseWorkRequest(value: unknown): WorkRequest {
  return parse(workRequest, value, "claim") as WorkRequest;
}

/** @throws HoldfastError `invalid_request`, naming where */
export function parseTokenRequest(value: unknown): TokenRequest {
  return parse(tokenRequest, value, "token") as TokenRequest;
}

const sessionRequest = z.object(
  {
    agent: f.name.optional(),
    owner: f.name.optional(),
    metadata: f.metadata.optional(),
    policy: f.policy.optional(),
    ttlMs: f.ttlMs.optional(),
  },
  "must be an object",
);

const workRequest = z
  .object(
    {
      agent: f.name,
      worker: f.name,
      instance: f.name.optional(),
      wakeId: f.id.optional(),
      session: f.id.optional(),
      runId: f.id.optional(),
      waitMs: z
        .number("must be a number")
        .min(0, "must not be negative")
        .max(30_000, "must be at most 30000")
        .optional(),
      claims: f.flag.optional(),
      tools: f.tools.optional(),
      complete: f.flag.optional(),
    },
    "must be an object",
  )
  .refine(
    ({ session, runId, wakeId }) =>
      (session === undefined) === (runId === undefined) &&
      (session === undefined || wakeId !== undefined),
    { error: "must name a run by session, runId and wakeId together" },
  );

const tokenRequest = z
  .object(
    {
      name: f.personName.optional(),
      agent: f.name.optional(),
    },
    "must be an object",
  )
  .refine(({ name, agent }) => (name === undefined) !== (agent === undefined), {
    error: "must have either a name or an agent",
  });

const revocation = z
  .object(
    {
      token: f.id.optional(),
      principal: f.name.optional(),
      before: z.number("must be Unix milliseconds").min(0, "must not be negative").optional(),
    },
    "must be an object",
  )
  .refine(({ token, principal }) => (token === undefined) !== (principal === undefined), {
    error: "must have either a token's id or a principal",
  })
  .refine(({ token, before }) => token === undefined || before === undefined, {
    error: "before is for a principal",
  });
