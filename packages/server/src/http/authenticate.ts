import { unauthenticated, type Identity, type Tokens } from "../auth/index.ts";

/** The request's identity. `EventSource` sets no headers, so reads may carry their token in the query. */
export function authenticate(request: Request, tokens: Tokens): Identity | Promise<Identity> {
  const header = request.headers.get("authorization");
  if (header?.startsWith("Bearer ")) return tokens.verify(header.slice("Bearer ".length));
  if (request.method === "GET") {
    const token = new URL(request.url).searchParams.get("access_token");
    if (token !== null) return tokens.verify(token);
  }
  throw unauthenticated("Send a token: `Authorization: Bearer <token>`.");
}
