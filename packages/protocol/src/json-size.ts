/**
 * How many bytes a value has as JSON in UTF-8 where that is more than `limit`, else undefined. Costs the writing of the
 * JSON; `undefined` and functions have no bytes.
 */
export function bytesBeyond(value: unknown, limit: number): number | undefined {
  const text = JSON.stringify(value) ?? "";
  // No unit of UTF-16 takes more than three bytes.
  if (text.length * 3 <= limit) return undefined;
  const bytes = utf8Bytes(text);
  return bytes > limit ? bytes : undefined;
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit <= 0x7f) continue;
    // Each half of a surrogate pair stands for two of its four bytes.
    const isHalf = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit <= 0x7ff || isHalf ? 1 : 2;
  }
  return bytes;
}
