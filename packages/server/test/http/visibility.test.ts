import {
  fromRows,
  reduceAll,
  toRows,
  type Entry,
  type Frame,
  type StateRows,
} from "@holdfast/protocol";
import { expect, test } from "vitest";
import { sorted } from "../support/engine.ts";
import { readEvents, type ServerEvent } from "../support/http.ts";
import { openSecrets, SECRET, type Secrets, type StateAt } from "./secrets.ts";

const ENTRIES = "/v1/sessions/s/entries";

/** What nobody may be told who does not see tool `pay`: the marker, and the digests of what has it. */
async function forbiddenTexts({ state, root }: Secrets): Promise<string[]> {
  const { calls } = (await state(root)).state;
  const digests = calls.flatMap(({ approval }) => [approval?.digest, approval?.decision?.digest]);
  const known = digests.filter((it) => it !== undefined);
  expect(new Set(known).size).toBeGreaterThanOrEqual(3);
  return [SECRET, ...known];
}

/** Follows a session from a state until what `tell` says last has come. */
async function follow({ url }: Secrets, token: string, begun: StateAt) {
  const rows = fromRows(begun.offset, structuredClone(begun.state));
  const query = new URLSearchParams({ after: begun.offset, visibility: begun.visibility ?? "" });
  const texts: string[] = [JSON.stringify(begun)];
  const events = readEvents(`${url}${ENTRIES}?${query}`, token);
  while (rows.calls.get("asked")?.status !== "settled") {
    const { value, done } = await events.next();
    if (done) throw new Error("The stream ended");
    texts.push(JSON.stringify(value));
    if ("comment" in value) continue;
    expect(value.event).toBeUndefined();
    reduceAll(rows, (value.data as Frame).entries);
  }
  await events.return(undefined);
  return { text: texts.join("\n"), rows: toRows(rows) };
}

/** Every state a reader passes through, folded from pages of one entry. */
async function eachState({ get }: Secrets, token: string, begun: StateAt): Promise<StateAt[]> {
  const rows = fromRows(begun.offset, structuredClone(begun.state));
  const states: StateAt[] = [];
  const visibility = begun.visibility ?? "";
  for (;;) {
    const query = new URLSearchParams({ after: rows.head, visibility, limit: "1" });
    const { text } = await get(`${ENTRIES}?${query}`, token);
    const page = JSON.parse(text) as { entries: Entry[]; visibility?: string; upToDate: boolean };
    expect(page.visibility ?? "").toBe(visibility);
    reduceAll(rows, page.entries);
    states.push({ ...begun, offset: rows.head, state: JSON.parse(JSON.stringify(toRows(rows))) });
    if (page.upToDate) return states;
  }
}

/** Reads all that follows a state as one page. */
async function readOn({ get }: Secrets, token: string, { offset, visibility, state }: StateAt) {
  const query = new URLSearchParams({ after: offset, visibility: visibility ?? "" });
  const { text } = await get(`${ENTRIES}?${query}`, token);
  const rows = fromRows(offset, structuredClone(state));
  reduceAll(rows, (JSON.parse(text) as { entries: Entry[] }).entries);
  return { text, rows: toRows(rows) };
}

const same = (a: StateRows, b: StateRows) => expect(sorted(a)).toEqual(sorted(b));

test("11.1 who sees less gets the same live, on reload, by pages and from every cursor, and no secret", async () => {
  await using secrets = await openSecrets();
  const { ana, bo, guest, root, state, get, tell } = secrets;
  const tokens = [ana, bo, guest, root];
  const begun = await Promise.all(tokens.map((token) => state(token)));
  const live = tokens.map((token, at) => follow(secrets, token, begun[at] as StateAt));
  await tell();
  const watched = await Promise.all(live);
  const hidden = await forbiddenTexts(secrets);

  for (const [at, token] of tokens.entries()) {
    const texts = [watched[at]?.text ?? ""];
    const reloaded = await state(token);
    texts.push(JSON.stringify(reloaded));
    same(watched[at]?.rows as StateRows, reloaded.state);
    const states = await eachState(secrets, token, begun[at] as StateAt);
    expect(states.length).toBeGreaterThan(40);
    for (const [count, from] of states.entries()) {
      const { text, rows } =
        count % 8 === 0 ? await follow(secrets, token, from) : await readOn(secrets, token, from);
      texts.push(text);
      same(rows, reloaded.state);
    }
    texts.push((await get(ENTRIES, token)).text, (await get("/v1/calls", token)).text);
    const all = texts.join("\n");
    if (token === root) expect(hidden.filter((it) => !all.includes(it))).toEqual([]);
    else expect(hidden.filter((it) => all.includes(it))).toEqual([]);
  }

  const find = ({ state: { calls } }: StateAt) => calls.find(({ id }) => id === "found");
  expect(find(await state(ana))).toEqual(find(await state(root)));
  expect(find(await state(guest))).toMatchObject({ redacted: true, arguments: "" });
});

test("7.7 a cursor of another visibility is a reset, whichever sees more", async () => {
  await using secrets = await openSecrets();
  const { url, ana, bo, guest, root, state, get, tell } = secrets;
  await tell();
  const hidden = await forbiddenTexts(secrets);
  const at = async (token: string) => {
    const { offset, visibility } = await state(token);
    return visibility === undefined ? offset : `${offset}~${visibility}`;
  };
  const first = async (token: string, cursor: string) => {
    const events = readEvents(url + ENTRIES, token, { "last-event-id": cursor });
    const { value } = await events.next();
    await events.return(undefined);
    return value as ServerEvent & { comment?: string };
  };
  for (const [seen, now] of [
    [ana, root],
    [root, ana],
    [guest, ana],
    [ana, guest],
  ] as const) {
    const cursor = await at(seen);
    const page = await get(`${ENTRIES}?after=${cursor}`, now);
    expect([page.status, JSON.parse(page.text).code]).toEqual([409, "reset"]);
    const reset = await first(now, cursor);
    expect(reset).toMatchObject({ event: "reset", id: await at(now), data: await state(now) });
    if (now !== root) expect(hidden.filter((it) => JSON.stringify(reset).includes(it))).toEqual([]);
  }
  expect(await first(bo, await at(ana))).toEqual({ comment: "connected" });
  expect((await get(`${ENTRIES}?after=${await at(ana)}`, bo)).status).toBe(200);
});

test("7.6 a claimer gets the arguments of its call, and shows them to nobody else", async () => {
  await using secrets = await openSecrets();
  const { ana, bo, root, state, command, tell } = secrets;
  await tell();
  const call = async (token: string) =>
    (await state(token)).state.calls.find(({ id }) => id === "held");
  expect(await call(ana)).toMatchObject({ status: "open", redacted: true, arguments: "" });
  const claim = { id: "claim", type: "call.claim", callId: "held" } as const;
  const verdict = await command(claim, ana);
  expect(verdict["arguments"]).toBe(`{"n":"${SECRET} of held"}`);
  expect(await call(ana)).toMatchObject({ arguments: verdict["arguments"] });
  expect(await call(bo)).toMatchObject({ status: "claimed", arguments: "" });
  const repeated = await command(claim, ana);
  expect(repeated).toMatchObject({ repeated: true, arguments: verdict["arguments"] });
  await command({ type: "call.release", callId: "held", claimId: String(verdict["claimId"]) }, ana);
  expect(await call(ana)).toMatchObject({ status: "open", arguments: "" });
  // It holds the call no more.
  expect(await command(claim, ana)).not.toHaveProperty("arguments");
  // Who sees them anyway is not told twice.
  expect(await command({ type: "call.claim", callId: "held" }, root)).not.toHaveProperty(
    "arguments",
  );
});

test("7.6 no refusal tells data, and who sees none decides by the approval's id", async () => {
  await using secrets = await openSecrets();
  const { ana, root, command, state, tell } = secrets;
  await tell();
  const hidden = await forbiddenTexts(secrets);
  const answer = { type: "json", value: 1 } as const;
  const approvalId = (token: string) =>
    state(token).then(({ state: { calls } }) => {
      return calls.find(({ id }) => id === "gated")?.approval?.id ?? "";
    });
  const refused = [
    await command({ type: "call.answer", callId: "asked", outcome: "ok", answer }, ana),
    await command({ type: "call.decide", callId: "paid", approvalId: "x", approved: true }, ana),
    await command({ type: "call.decide", callId: "gated", approvalId: "x", approved: true }, ana),
  ];
  expect(refused.map(({ code }) => code)).toEqual([
    "already_answered",
    "stale_decision",
    "stale_decision",
  ]);
  expect(refused[0]).toMatchObject({ details: { by: "user:root", outcome: "ok" } });
  expect(refused[1]).toMatchObject({ details: { decision: { approved: true, by: "user:root" } } });
  const all = JSON.stringify(refused);
  expect(hidden.filter((it) => all.includes(it))).toEqual([]);
  const told = await command(
    { type: "call.decide", callId: "gated", digest: "x", approved: true },
    root,
  );
  expect(hidden.filter((it) => JSON.stringify(told).includes(it))).not.toEqual([]);

  const id = await approvalId(ana);
  const decided = await command(
    { type: "call.decide", callId: "gated", approvalId: id, approved: false },
    ana,
  );
  expect(decided["status"]).toBe("applied");
});

test("7.6 a guess at hidden arguments is told nothing, right or wrong, and decides nothing", async () => {
  await using secrets = await openSecrets();
  const { ana, root, command, state, tell } = secrets;
  await tell();
  const gated = async () => (await state(root)).state.calls.find(({ id }) => id === "gated");
  const { id: approvalId = "", digest = "" } = (await gated())?.approval ?? {};
  const guess = async (guessed: string, more: object) => {
    const body = { type: "call.decide", callId: "gated", digest: guessed, ...more } as const;
    const { code, detail } = await command({ approved: true, ...body }, ana);
    return [code, detail];
  };
  for (const more of [{}, { approvalId }, { arguments: "{" }, { approved: false }]) {
    const right = await guess(digest, more);
    expect(right).toEqual(await guess("0".repeat(64), more));
    expect(right[0]).toBe("forbidden");
  }
  expect((await gated())?.status).toBe("gated");
});
