/** An answer before it is dressed for the platform: web-standard, or Node's own. */
export interface Answer {
  readonly status: number;
  readonly type: "application/json" | "application/problem+json";
  readonly body: string;
}

export function toResponse({ status, type, body }: Answer): Response {
  return new Response(body, { status, headers: { "content-type": type } });
}
