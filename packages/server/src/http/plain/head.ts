/** What a plain request says before its body. */
export interface Head {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** By name in lower case; none is there twice. */
  readonly headers: ReadonlyMap<string, string>;
  /** Of the body, in bytes. */
  readonly length: number;
}

/** The longest head that is kept, in characters, the most headers it may have, and how many are kept. */
const MOST_KEPT = 2 << 10;
const MOST_HEADERS = 32;
const KEPT = 4096;

/** Heads that were read before, by their text. A client says nearly the same each time, so each is read once. */
export class Heads {
  readonly #known = new Map<string, Head>();

  /** As {@link parseHead} says. The same text gives the same object, so that more can be kept with it. */
  read(text: string): Head | undefined {
    const known = this.#known.get(text);
    if (known) return known;
    const head = parseHead(text);
    if (head && text.length <= MOST_KEPT && head.headers.size <= MOST_HEADERS) {
      if (this.#known.size >= KEPT) this.#known.clear();
      this.#known.set(text, head);
    }
    return head;
  }
}

/**
 * Reads the head of a plain request: HTTP/1.1 to the letter, each header once, a body of declared length or none, a
 * connection that stays. Whatever else HTTP allows, and all that it does not, is undefined: no plain request, and for a
 * full parser to judge. So there is nothing here that two readers of the same bytes could understand in two ways.
 *
 * @param text all before the empty line, a character for each byte
 */
export function parseHead(text: string): Head | undefined {
  const lines = text.split("\r\n");
  const request = REQUEST_LINE.exec(lines[0] ?? "");
  if (!request) return undefined;
  const [, method = "", target = ""] = request;
  const headers = new Map<string, string>();
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const value = line.slice(colon + 1);
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    if (ODD.has(name) || headers.has(name)) return undefined;
    headers.set(name, value.trim());
  }
  const connection = headers.get("connection");
  const declared = headers.get("content-length") ?? "0";
  if (!isHost(headers.get("host") ?? "") || !LENGTH.test(declared)) return undefined;
  if (connection !== undefined && connection.toLowerCase() !== "keep-alive") return undefined;
  return { method, target, headers, length: Number(declared) };
}

/** What a URL can name, too: Node's side refuses the rest. */
function isHost(host: string): boolean {
  if (host === lastHost) return true;
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
  lastHost = host;
  return true;
}

/** The last that was found to be one: nearly all say the same. */
let lastHost: string | undefined;

const REQUEST_LINE =
  /^(GET|HEAD|POST|PUT|DELETE|OPTIONS) (\/[\w.~:@!$&'()*+,;=%/?[\]-]*) HTTP\/1\.1$/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Printable ASCII: of what else may stand there, no client of ours sends any. */
const VALUE = /^[\t -~]*$/;
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;
const LENGTH = /^\d{1,9}$/;
/** What changes how a message is read, or what its connection becomes. */
const ODD: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "expect",
  "upgrade",
  "proxy-connection", // no standard's, but Node's parser and others take it for "connection"
]);
