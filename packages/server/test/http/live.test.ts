import { expect, test } from "vitest";
import { live, type LiveOptions } from "../../src/http/live.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A stream whose timer and token are the test's. */
function stage(more: Partial<LiveOptions<string>> & Pick<LiveOptions<string>, "source">) {
  const timers: (() => void)[] = [];
  const logged: unknown[] = [];
  let tokenEnds = () => {};
  let watched = 0;
  const made = live({
    stop: new AbortController(),
    type: "text/plain",
    alive: bytes("alive "),
    tell: (piece) => ({ bytes: piece === "" ? undefined : bytes(piece), isOver: piece === "end" }),
    name: "this test",
    heartbeatMs: 1,
    schedule(_ms, run) {
      timers.push(run);
      return () => void timers.splice(timers.indexOf(run), 1);
    },
    log: (message, error) => logged.push([message, error]),
    watch(over) {
      tokenEnds = over;
      watched += 1;
      return () => void (watched -= 1);
    },
    ...more,
  });
  return {
    ...made,
    beat: () => timers.shift()?.(),
    timers,
    logged,
    endToken: () => tokenEnds(),
    watched: () => watched,
  };
}

/** Says some, then waits for ever; tells when it was ended. */
function endless(...pieces: string[]) {
  let ended = false;
  async function* said() {
    try {
      yield* pieces;
      await new Promise(() => {});
    } finally {
      ended = true;
    }
  }
  return { source: said(), ended: () => ended };
}

async function* saying(...pieces: (string | Error)[]) {
  for (const piece of pieces) {
    if (typeof piece !== "string") throw piece;
    yield piece;
  }
}

const farewell = (why: string) => bytes(`bye: ${why}`);
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what comes first, then every piece as it is told, also behind one that says nothing", async () => {
  const { response, timers, watched } = stage({
    source: saying("a", "", "", "b"),
    first: { bytes: bytes("first ") },
  });
  expect(response.headers.get("content-type")).toBe("text/plain");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  expect(await response.text()).toBe("first ab");
  expect([timers.length, watched()]).toEqual([0, 0]);
});

test("nothing comes behind the last word, whether it was the first or not", async () => {
  const { response, timers } = stage({ source: saying("a", "end", "b"), farewell });
  expect(await response.text()).toBe("aend");
  expect(timers).toHaveLength(0);
  const only = endless("a");
  const short = stage({ source: only.source, first: { bytes: bytes("all"), isOver: true } });
  expect(await short.response.text()).toBe("all");
  expect([short.timers.length, short.watched()]).toEqual([0, 0]);
});

test("a source that closes or fails, and a token that ends, say so where there is a word for it", async () => {
  expect(await stage({ source: saying("a "), farewell }).response.text()).toBe("a bye: closed");
  const failed = stage({ source: saying("a ", new Error("no")), farewell });
  expect(await failed.response.text()).toBe("a bye: failed");
  expect(failed.logged).toEqual([["A stream of this test failed", new Error("no")]]);
  const held = stage({ ...endless(), farewell });
  held.endToken();
  expect(await held.response.text()).toBe("bye: token");

  const broken = stage({ source: saying("a", new Error("no")) });
  await expect(broken.response.text()).rejects.toThrow("no");
  expect(broken.watched()).toBe(0);
  const quiet = stage(endless());
  quiet.endToken();
  expect(await quiet.response.text()).toBe("");
});

test("its source is ended with it, also between two pieces, and by whoever goes away", async () => {
  for (const end of ["end", "token", "cancel"] as const) {
    const { source, ended } = endless("a", "b", "c");
    const it = stage({ source, first: { bytes: bytes("first") } });
    const reader = it.response.body?.getReader();
    await reader?.read();
    await reader?.read();
    await turn();
    if (end === "end") it.end();
    else if (end === "token") it.endToken();
    else await reader?.cancel();
    await turn();
    expect([end, ended(), it.timers.length, it.watched()]).toEqual([end, true, 0, 0]);
    it.end();
    it.endToken();
  }
});

test("it says that it is alive only to a reader that took all there was", async () => {
  const it = stage({ ...endless(), first: { bytes: bytes("first ") } });
  const reader = it.response.body?.getReader();
  it.beat();
  it.beat();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  expect(await read()).toBe("first ");
  it.beat();
  expect(await read()).toBe("alive ");
  it.end();
  expect((await reader?.read())?.done).toBe(true);
});
