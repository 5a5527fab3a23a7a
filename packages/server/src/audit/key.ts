import {
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";

/** What checkpoints are signed with: an Ed25519 key. */
export interface AuditKey {
  /** The public key, base64url: who has it can check signatures and make none. */
  readonly publicKey: string;
  /** The signature of a text, base64url. */
  sign(text: string): string;
}

/**
 * The key that belongs to a server's secret, the same one every time, or the one in a PEM text.
 *
 * @throws Error for a PEM text that holds no Ed25519 private key
 */
export function auditKey(from: Uint8Array | string): AuditKey {
  const key = typeof from === "string" ? createPrivateKey(from) : derive(from);
  const { x, crv } = createPublicKey(key).export({ format: "jwk" });
  if (crv !== "Ed25519" || x === undefined) {
    throw new Error("The audit's key must be an Ed25519 private key, as PEM.");
  }
  return {
    publicKey: x,
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64url"),
  };
}

/** Whether a signature is of this text and by this public key; false for what is no key or no signature. */
export function isSigned(text: string, signature: string, publicKey: string): boolean {
  const bytes = Buffer.from(signature, "base64url");
  // The last letter has bits that say nothing.
  if (bytes.toString("base64url") !== signature) return false;
  try {
    const key = { kty: "OKP", crv: "Ed25519", x: publicKey };
    return verify(null, Buffer.from(text), createPublicKey({ key, format: "jwk" }), bytes);
  } catch {
    return false;
  }
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

function derive(secret: Uint8Array): KeyObject {
  const seed = hkdfSync("sha256", secret, new Uint8Array(), "holdfast audit checkpoints", 32);
  const key = Buffer.concat([PKCS8, Buffer.from(seed)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}
