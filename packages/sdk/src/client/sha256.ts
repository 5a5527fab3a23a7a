/**
 * SHA-256 of a text's UTF-8, hex. For what must be known at once and also on pages without TLS, where `crypto.subtle`
 * does not exist (FIPS 180-4, 6.2).
 */
export function sha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text));
  const hash = new Uint32Array(INITIAL);
  const words = new Uint32Array(64);
  for (let block = 0; block < bytes.byteLength; block += 64) {
    for (let t = 0; t < 16; t += 1) words[t] = bytes.getUint32(block + t * 4);
    mix(hash, words);
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The message, a one bit, zeros, and the length in bits as 64 bits, in whole blocks. */
function padded(message: Uint8Array): DataView {
  const bytes = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, BigInt(message.length) * 8n);
  return view;
}

/** Folds one block into `hash`; the first 16 of `words` are the block, the others are overwritten. */
function mix(hash: Uint32Array, words: Uint32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const [w2 = 0, w7 = 0, w15 = 0, w16 = 0] = [2, 7, 15, 16].map((back) => words[t - back]);
    const s0 = turn(w15, 7) ^ turn(w15, 18) ^ (w15 >>> 3);
    const s1 = turn(w2, 17) ^ turn(w2, 19) ^ (w2 >>> 10);
    words[t] = w16 + s0 + w7 + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t += 1) {
    const sum1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const choice = (e & f) ^ (~e & g);
    const one = (h + sum1 + choice + (CONSTANTS[t] ?? 0) + (words[t] ?? 0)) | 0;
    const sum0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + sum0 + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, n) => {
    hash[n] = (hash[n] ?? 0) + word;
  });
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits of the fractional parts of a root of the first primes. */
function fractions(count: number, root: (prime: number) => number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1)
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes.map((prime) => Math.floor((root(prime) % 1) * 2 ** 32));
}

const INITIAL = fractions(8, Math.sqrt);
const CONSTANTS = fractions(64, Math.cbrt);
