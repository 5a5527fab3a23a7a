const adjectives =
  "brisk calm clear deep even fair high keen mild quiet ready sound still true warm".split(" ");
const nouns =
  "anchor bay beacon bollard buoy cleat deck harbour jetty keel mast mooring quay rope sail".split(
    " ",
  );

/** The session this page shows, from its address; a new one is minted and written there where it names none. */
export function sessionInAddress(): string {
  const match = /^\/s\/([^/]+)\/?$/.exec(location.pathname);
  if (match?.[1] !== undefined) return decodeURIComponent(match[1]);
  const id = newSessionId();
  history.replaceState(null, "", `/s/${id}`);
  return id;
}

/** An id that people can say, with enough chance in it not to be guessed or to meet another. */
function newSessionId(): string {
  const random = crypto.getRandomValues(new Uint32Array(4));
  const tail = [...random.subarray(2)].map((n) => n.toString(36).padStart(7, "0")).join("");
  return [pick(adjectives, random[0]), pick(nouns, random[1]), tail.slice(0, 10)].join("-");
}

function pick(words: readonly string[], random = 0): string {
  return words[random % words.length] ?? "session";
}
