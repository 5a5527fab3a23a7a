/** An answer before it is dressed for the platform: web-standard, or Node's own. */
export interface Answer {
  readonly status: number;
  readonly type: "application/json" | "application/problem+json";
  readonly body: string;
  /** When to come again, in seconds. */
  readonly retryAfter?: number;
}

export function toResponse(answer: Answer): Response {
  const { status, body } = answer;
  return new Response(body, { status, headers: headersOf(answer) });
}

export function headersOf({ type, retryAfter }: Answer): Record<string, string> {
  return {
    "content-type": type,
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  };
}
