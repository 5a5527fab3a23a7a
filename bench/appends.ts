import { headOf, load, type LoadResult, type Shot } from "./load.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** The event of every append, on every peer: one token of a streamed text. */
function token(messageId: string): object {
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "hello token " };
}

export interface AppendLoad {
  readonly inFlight: number;
  readonly sessions: number;
  readonly seconds: number;
}

/** Durable single-event appends to Durable Streams: a POST each, spread over the streams. */
export async function durableStreams(
  url: string,
  { inFlight, sessions, seconds }: AppendLoad,
): Promise<LoadResult> {
  for (let n = 0; n < sessions; n += 1) await put(`${url}/s${n}`);
  const body = JSON.stringify(token("m"));
  const spread = spreader(inFlight, headsOf(url, sessions));
  return load({
    url,
    inFlight,
    seconds,
    next: (worker) => ({ head: spread(worker), body }),
    check: (status) => status >= 200 && status < 300,
  });
}

/** The same to a bare server that stores nothing. */
export function echo(url: string, { inFlight, seconds }: AppendLoad): Promise<LoadResult> {
  const body = JSON.stringify(token("m"));
  const head = headOf(new URL(url).host, "/echo", JSON_TYPE);
  return load({
    url,
    inFlight,
    seconds,
    next: () => ({ head, body }),
    check: (status) => status === 200,
  });
}

/** The same to a bare server that checks nothing, and stores what it gets. */
export function bareDurable(
  url: string,
  { inFlight, sessions, seconds }: AppendLoad,
): Promise<LoadResult> {
  const body = JSON.stringify(token("m"));
  const spread = spreader(inFlight, headsOf(url, sessions));
  return load({
    url,
    inFlight,
    seconds,
    next: (worker) => ({ head: spread(worker), body }),
    check: (status) => status === 200,
  });
}

/**
 * Durable single-event appends to Holdfast: a `run.append` of one event each, by as many producers as are in flight,
 * each under its own message, so that none is merged with another's.
 */
export async function holdfast(
  url: string,
  { inFlight, sessions, seconds }: AppendLoad,
): Promise<LoadResult> {
  const runs = await Promise.all(
    Array.from({ length: sessions }, (_, n) => begin(url, `bench-${sessions}-${n}`, inFlight)),
  );
  const { host } = new URL(url);
  const targets = runs.map(({ path, token: bearer, runId, attempt }) => ({
    head: headOf(host, path, { ...JSON_TYPE, authorization: `Bearer ${bearer}` }),
    run: { runId, attempt },
    seqs: Array.from({ length: inFlight }, () => 0),
  }));
  const spread = spreader(inFlight, targets);
  return load({
    url,
    inFlight,
    seconds,
    next(worker): Shot {
      const { head, run, seqs } = spread(worker);
      const seq = (seqs[worker] ?? 0) + 1;
      seqs[worker] = seq;
      const command = {
        id: `${worker}-${seq}`,
        type: "run.append",
        ...run,
        producer: `p${worker}`,
        seq,
        items: [token(`m${worker}`)],
      };
      return { head, body: JSON.stringify(command) };
    },
    check: (status, body) =>
      status === 200 && body.includes('"applied"') && !body.includes('"skipped"'),
  });
}

/** An attempt, and where its session takes commands. */
export interface Attempt {
  readonly path: string;
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
}

/** A session with an active attempt and an open message for each producer. Its agent has no other work. */
export async function begin(
  url: string,
  session: string,
  producers: number,
  name = session,
): Promise<Attempt> {
  const user = await tokenOf(url, { name: "bench" });
  await post(`${url}/v1/sessions/${session}`, user, { agent: name }, "PUT");
  const path = `/v1/sessions/${session}/commands`;
  await post(url + path, user, {
    id: "send",
    type: "message.send",
    messageId: "question",
    content: "Go.",
  });
  const agent = await tokenOf(url, { agent: name });
  const { work } = (await post(`${url}/v1/work/claim`, agent, {
    agent: name,
    worker: "bench",
    instance: "bench",
    waitMs: 5_000,
  })) as {
    work: { runId: string; attempt: number; token: string };
  };
  const items = Array.from({ length: producers }, (_, n) => ({
    type: "TEXT_MESSAGE_START",
    messageId: `m${n}`,
    role: "assistant",
  }));
  const { runId, attempt } = work;
  await post(url + path, work.token, {
    id: "open",
    type: "run.append",
    runId,
    attempt,
    producer: "open",
    seq: 1,
    items,
  });
  return { path, runId, attempt, token: work.token };
}

export async function tokenOf(url: string, who: object): Promise<string> {
  return ((await post(`${url}/v1/dev/token`, "", who)) as { token: string }).token;
}

export async function post(
  url: string,
  token: string,
  body: object,
  method = "POST",
): Promise<unknown> {
  const headers = { ...JSON_TYPE, ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok)
    throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`);
  return response.json();
}

async function put(url: string): Promise<void> {
  const response = await fetch(url, { method: "PUT", headers: JSON_TYPE });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`PUT ${url} gave ${response.status}.`);
}

function headsOf(url: string, streams: number): string[] {
  const { host } = new URL(url);
  return Array.from({ length: streams }, (_, n) => headOf(host, `/s${n}`, JSON_TYPE));
}

/** Which of several a worker turns to next: all in order, each worker from its own place. */
function spreader<T>(workers: number, all: readonly T[]): (worker: number) => T {
  const counts = Array.from({ length: workers }, () => 0);
  return (worker) => {
    const count = counts[worker] ?? 0;
    counts[worker] = count + 1;
    const next = all[(worker + count * workers) % all.length];
    if (next === undefined) throw new RangeError("There is nothing to turn to.");
    return next;
  };
}
