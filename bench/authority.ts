import { post, tokenOf } from "./appends.ts";
import { Connection, type Answer } from "./connection.ts";
import { headOf, resultOf, type LoadResult } from "./load.ts";

export interface AuthorityLoad {
  readonly inFlight: number;
  readonly seconds: number;
  /** Whether tools are declared with a schema and calls claimed. */
  readonly on: boolean;
}

const TOKENS = 100;
const PIECES = ['{"query":"', "the ", "weather ", "in ", "Oslo", '","days":', "5", "}"];
const ROUNDS = 20;
const TOOL = {
  name: "search",
  retry: "safe",
  parameters: {
    type: "object",
    required: ["query", "days"],
    properties: { query: { type: "string" }, days: { type: "integer", minimum: 1 } },
    additionalProperties: false,
  },
};

/**
 * Agents that stream: in each round {@link TOKENS} tokens of text, one call's arguments in {@link PIECES}, its answer. Each
 * event is a request that waits for its acknowledgement, and counts once that is there.
 *
 * `on`: the tool is declared with a JSON Schema, its arguments are validated, the call is claimed with a command of its
 * own (a receipt, an event, a lease) and answered under the claim; a renewal of another claim is refused, and audited. `off`: no tool is declared and nothing is claimed.
 * The events counted are the same ones; the claim and the refusal are not counted. A command's receipt and who did what and when
 * are part of every commit and cannot be turned off. `acknowledged` counts the warm-up, too.
 */
export async function authority(
  url: string,
  load: AuthorityLoad,
): Promise<LoadResult & { readonly acknowledged: number }> {
  const { inFlight, seconds, on } = load;
  const batch = crypto.randomUUID();
  const names = Array.from({ length: inFlight }, (_, n) => `${batch}-${n}`);
  const agents = await Promise.all(
    names.map(async (name) => {
      const user = await tokenOf(url, { name: "bench" });
      const agent = await tokenOf(url, { agent: name });
      await post(`${url}/v1/sessions/${name}`, user, { agent: name }, "PUT");
      return { name, user, agent, connection: await Connection.open(url) };
    }),
  );
  const warm = performance.now() + seconds * 250;
  const end = warm + seconds * 1000;
  const latencies: number[] = [];
  let acknowledged = 0;
  const heard = (begun: number, now: number) => {
    acknowledged += 1;
    if (begun >= warm && now <= end) latencies.push(now - begun);
  };
  const workers = agents.map(async ({ name, user, agent, connection }) => {
    try {
      for (let turn = 0; performance.now() < end; turn += 1) {
        const attempt = await begin(url, { name, user, agent, turn, on });
        await stream({ url, name, on, connection, heard, end, ...attempt });
      }
    } finally {
      connection.close();
    }
  });
  await Promise.all(workers);
  return { ...resultOf(latencies, seconds), acknowledged };
}

interface Attempt {
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
}

interface Beginning {
  readonly name: string;
  readonly user: string;
  readonly agent: string;
  readonly turn: number;
  readonly on: boolean;
}

async function begin(url: string, { name, user, agent, turn, on }: Beginning): Promise<Attempt> {
  const id = `message-${turn}`;
  const message = {
    id,
    type: "message.send",
    messageId: id,
    content: "Go.",
    whileActive: "replace",
  };
  await post(`${url}/v1/sessions/${name}/commands`, user, message);
  const claim = { agent: name, worker: "bench", waitMs: 5_000 };
  const tools = on ? { tools: [TOOL], complete: true } : { claims: false };
  const { work } = (await post(`${url}/v1/work/claim`, agent, { ...claim, ...tools })) as {
    work: Attempt;
  };
  return work;
}

interface Stream extends Attempt {
  readonly url: string;
  readonly name: string;
  readonly on: boolean;
  readonly connection: Connection;
  readonly heard: (begun: number, now: number) => void;
  readonly end: number;
}

/** A run of {@link ROUNDS} rounds, or until the time is over. */
async function stream(options: Stream): Promise<void> {
  const { runId, attempt, on, heard, end } = options;
  let seq = 0;
  const append = async (item: object) => {
    const begun = performance.now();
    seq += 1;
    const fence = { runId, attempt, producer: "main", seq };
    await send(options, { id: `${runId}-${seq}`, type: "run.append", ...fence, items: [item] });
    heard(begun, performance.now());
  };
  for (let round = 0; round < ROUNDS && performance.now() < end; round += 1) {
    const messageId = `${runId}-text-${round}`;
    const toolCallId = `${runId}-call-${round}`;
    await append({ type: "round.open" });
    await append({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    for (let token = 0; token < TOKENS; token += 1)
      await append({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: "hello token " });
    await append({ type: "TEXT_MESSAGE_END", messageId });
    await append({ type: "TOOL_CALL_START", toolCallId, toolCallName: TOOL.name });
    for (const delta of PIECES) await append({ type: "TOOL_CALL_ARGS", toolCallId, delta });
    await append({ type: "TOOL_CALL_END", toolCallId });
    const claim = { id: `${toolCallId}-claim`, type: "call.claim", callId: toolCallId };
    const claimId = on ? (await send(options, claim)).claimId : undefined;
    const renewal = { id: `${toolCallId}-renew`, type: "call.renew", claimId: "another" };
    if (on) await beRefused(options, { ...renewal, callId: toolCallId });
    const answer = { type: "json", value: { degrees: 5, round } };
    const given = { callId: toolCallId, outcome: "ok", answer, ...(claimId && { claimId }) };
    await append({ type: "call.answer", ...given });
    await append({ type: "round.close" });
  }
}

async function beRefused(options: Stream, command: object): Promise<void> {
  const { status, body } = await ask(options, command);
  if (status !== 409) throw new Error(`Not refused, but ${status}: ${body.slice(0, 300)}`);
}

function ask({ url, name, token, connection }: Stream, command: object): Promise<Answer> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const head = headOf(new URL(url).host, `/v1/sessions/${name}/commands`, headers);
  return connection.send(head, JSON.stringify(command));
}

async function send(options: Stream, command: object): Promise<{ readonly claimId?: string }> {
  const { status, body } = await ask(options, command);
  if (status !== 200 || body.includes('"skipped"'))
    throw new Error(`Refused with ${status}: ${body.slice(0, 300)}`);
  return JSON.parse(body) as { claimId?: string };
}
