import { createHmac } from "node:crypto";

/**
 * The headers that say who a message is from, as Standard Webhooks has them: HMAC-SHA256 over id, time and body, once
 * for each key.
 *
 * @param message.at Unix milliseconds
 */
export function signatureHeaders(
  keys: readonly Uint8Array[],
  message: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  const { id, at, body } = message;
  const timestamp = String(Math.floor(at / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
