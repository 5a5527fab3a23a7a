import { RequestError } from "@hono/node-server";
import { toResponse, type Answer } from "./answer.ts";
import { ERROR_CODES, HoldfastError, type Rejection } from "@holdfast/protocol";

/** A refusal as `application/problem+json`; `more` are further members beside it. */
export function refusal(rejection: Rejection, more?: Readonly<Record<string, unknown>>): Answer {
  const { code, message, details } = rejection;
  const { status, retryable } = ERROR_CODES[code];
  const body = {
    ...more,
    type: "about:blank",
    title: code,
    status,
    code,
    detail: message,
    retryable,
    ...(details && { details }),
  };
  const wait = details?.["retryAfterMs"];
  return {
    status,
    type: "application/problem+json",
    body: JSON.stringify(body),
    ...(typeof wait === "number" && { retryAfter: Math.ceil(wait / 1000) }),
  };
}

export function problem(rejection: Rejection): Response {
  return toResponse(refusal(rejection));
}

/** Any error as a refusal. One that is not meant for callers is `internal`, its words and cause only for the log. */
export function refusalOf(error: unknown, log: (message: string, error: unknown) => void): Answer {
  return refusal(rejectionOf(error, log));
}

/** What {@link refusalOf} says, as a rejection. */
export function rejectionOf(
  error: unknown,
  log: (message: string, error: unknown) => void,
): Rejection {
  if (!(error instanceof HoldfastError)) {
    log("A request failed", error);
    return { code: "internal", message: "The server failed: send the same again." };
  }
  if (error.code === "internal") log("A request failed", error);
  return error.toRejection();
}

export function problemOf(
  error: unknown,
  log: (message: string, error: unknown) => void,
): Response {
  return toResponse(refusalOf(error, log));
}

/** What could not even be read as a request. */
export function problemOfRequest(
  error: unknown,
  log: (message: string, error: unknown) => void,
): Response {
  if (!(error instanceof RequestError)) return problemOf(error, log);
  return problem({
    code: "invalid_request",
    message: `The request cannot be read: ${error.message}.`,
  });
}

export function json(text: string, status = 200): Response {
  return new Response(text, { status, headers: JSON_TYPE });
}

const JSON_TYPE = { "content-type": "application/json" };
