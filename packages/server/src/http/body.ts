import { HoldfastError, isTooDeep, MOST_DEPTH, reject } from "@holdfast/protocol";

/** How much of a body that is too large is read all the same, in times of what it may have. */
const MOST_DROPPED = 4;

/**
 * A request's body as JSON; `empty` stands for no body at all.
 *
 * @throws HoldfastError `too_large` beyond `maxBytes`; `invalid_request` for what is not JSON, naming where, is not
 *   UTF-8, or broke off
 */
export async function readJson(
  request: Request,
  maxBytes: number,
  empty?: unknown,
): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
  return bytes.byteLength === 0 && empty !== undefined ? empty : parseBody(bytes);
}

/**
 * The JSON of a body that was read, or of something else that is called `what`.
 *
 * @throws HoldfastError as {@link readJson}
 */
export function parseBody(bytes: ArrayBuffer | Uint8Array, what = "body"): unknown {
  const text = decode(bytes, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const where = cause instanceof Error ? cause.message : "it cannot be parsed";
    throw new HoldfastError(reject("invalid_request", `The ${what} is not JSON: ${where}.`), {
      cause,
    });
  }
  if (isTooDeep(text)) {
    throw new HoldfastError(
      reject("invalid_request", `The ${what} is nested more than ${MOST_DEPTH} deep: flatten it.`, {
        limit: MOST_DEPTH,
      }),
    );
  }
  return value;
}

function decode(bytes: ArrayBuffer | Uint8Array, what: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new HoldfastError(
      reject("invalid_request", `The ${what} is not UTF-8: encode it so, without compression.`),
      { cause },
    );
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<ArrayBuffer | Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes, Number(declared));
  try {
    return declared === null ? await readChunks(request, maxBytes) : await request.arrayBuffer();
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw new HoldfastError(reject("invalid_request", "The body broke off: send it again."), {
      cause,
    });
  }
}

/**
 * Without a declared length, the limit is kept while reading. The rest of what is too long is read and dropped, since to
 * stop would cut the connection; which is what happens to a body beyond all measure.
 */
async function readChunks({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (bytes > MOST_DROPPED * maxBytes) throw tooLarge(maxBytes, bytes);
    else chunks.length = 0;
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes, bytes);
  return Buffer.concat(chunks);
}

/** @param value how large it says it is, or how much of it was read */
function tooLarge(limit: number, value: number): HoldfastError {
  return new HoldfastError(
    reject("too_large", `The body is larger than ${limit} bytes: send less at once.`, {
      limit,
      value,
    }),
  );
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
