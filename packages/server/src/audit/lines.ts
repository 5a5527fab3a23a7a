/**
 * A file's or a body's lines, without their line feeds. What follows the last line feed is a line too, if it is there.
 *
 * @throws TypeError for bytes that are no UTF-8
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    rest.push(first);
    for (const next of more) {
      yield rest.join("");
      rest = [next];
    }
  }
  const last = rest.join("") + decoder.decode();
  if (last !== "") yield last;
}
