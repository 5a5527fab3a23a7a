import { ERROR_CODES, HoldfastError, type ErrorCode } from "@holdfast/protocol";

/**
 * The error a refused response stands for: its problem's code where it has a known one, else the nearest by its
 * status. Reads the body.
 */
export async function problemOf(response: Response): Promise<HoldfastError> {
  const text = await response.text().catch(() => "");
  const problem = parseObject(text);
  const code = problem?.["code"];
  const details = problem?.["details"];
  return new HoldfastError({
    code: isErrorCode(code) ? code : codeOfStatus(response.status),
    message:
      stringOf(problem?.["detail"]) ??
      stringOf(problem?.["title"]) ??
      `The server answered ${response.status} without saying why.`,
    details: {
      ...(isObject(details) && details),
      ...(code !== undefined && !isErrorCode(code) && { code }),
      status: response.status,
    },
  });
}

/** Nothing came of a request, and the same one may succeed later. */
export function unreachable(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError({ code: "unreachable", message }, { cause });
}

/** Whether the network or the server's health or load is to blame, so that the same request may be sent again as it is. */
export function isTransient(error: unknown): error is HoldfastError {
  if (!(error instanceof HoldfastError)) return false;
  return error.status >= 500 || error.code === "too_many_requests";
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERROR_CODES, code);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function codeOfStatus(status: number): ErrorCode {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
      return "forbidden";
    case 404:
    case 410:
      return "not_found";
    case 413:
      return "too_large";
    case 408:
    case 502:
    case 504:
      return "unreachable";
    case 429:
      return "too_many_requests";
    case 503:
      return "overloaded";
    default:
      return status >= 500 ? "internal" : "invalid_request";
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // a page of some proxy in between
  }
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
