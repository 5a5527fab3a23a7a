/** What is signed, as it came: the body's bytes, not what they say. */
export interface SignedMessage {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** How far the time of a message may be from ours, milliseconds: what is older was kept by somebody. */
const TOLERANCE_MS = 5 * 60 * 1000;
/** Signatures that are looked at: one for each secret of the sender. */
const MOST_SIGNATURES = 8;

/**
 * Why a message is not to be trusted, as Standard Webhooks has it; undefined for one that is signed with one of the
 * secrets, now. Needs WebCrypto alone.
 *
 * @param now Unix milliseconds
 */
export async function distrust(
  { headers, body }: SignedMessage,
  keys: readonly Uint8Array<ArrayBuffer>[],
  now: number,
): Promise<string | undefined> {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature");
  if (!id || !timestamp || !signatures) return "it has no signature";
  if (!/^\d{1,12}$/.test(timestamp)) return "it has no time";
  if (Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return "its time is not now";
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const given = signatures
    .split(" ")
    .slice(0, MOST_SIGNATURES)
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => bytesOf(signature.slice("v1,".length)));
  for (const raw of keys) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
    for (const signature of given) {
      // In constant time.
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed)))
        return undefined;
    }
  }
  return "its signature is of another secret, or of other words";
}

/** @throws RangeError for what is no secret, without saying it */
export function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith("whsec_") ? bytesOf(secret.slice("whsec_".length)) : undefined;
  if (key && key.length >= 24 && key.length <= 64) return key;
  throw new RangeError(
    "A webhook's secret is whsec_ and 24 to 64 bytes in base64, as the server has it.",
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}
