import type { FetchImplementation } from "jose";

/** The largest key set that is read, in bytes: some hundred keys. */
const LARGEST = 1 << 20;

/** How long an issuer is left alone after it failed, in milliseconds, however many tokens come meanwhile. */
export const ISSUER_REST_MS = 1_000;

/**
 * Reads a published key set, but no more than a set has: what an issuer sends without end is cut off. After a failure it
 * fails at once for a moment, since anybody can send tokens that ask for it.
 */
export function fetchKeys(inner: typeof fetch): FetchImplementation {
  let restsUntil = 0;
  return async (url, options) => {
    if (Date.now() < restsUntil) throw new Error(`${url} failed a moment ago.`);
    try {
      const response = await inner(url, options);
      const { status } = response;
      if (status !== 200) {
        await response.body?.cancel();
        throw new Error(`${url} answered ${status}.`);
      }
      return new Response(await textOf(response));
    } catch (error) {
      restsUntil = Date.now() + ISSUER_REST_MS;
      throw error;
    }
  };
}

/** @throws Error for a body that is larger than any key set */
async function textOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > LARGEST) throw new Error(`The key set has more than ${LARGEST} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
