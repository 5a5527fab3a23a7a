import type { Command, Entry, Json, Rejection, StateRows, Verdict } from "@holdfast/protocol";
import { createServer, memoryStorage, type Due, type Storage } from "holdfast";
import type { Act, Desk } from "../../packages/protocol/test/support/desk.ts";
import { Revocations, Tokens } from "../../packages/server/src/auth/index.ts";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { wire, type Work } from "../support/wire.ts";

const SESSION = "s1";
const LEASE = 60_000;
/** When a desk's clock begins. */
const FIRST = 1_000;
/** How long a server that has nothing due sleeps, at most. */
const HOUR = 3_600_000;

/** What an act at the desk has no like of on the wire. */
export class NoWireForm extends Error {}

/**
 * A real server on which what was done at a desk is done again, over HTTP: ids that the server makes are put in the
 * places of the desk's. Its clock stands, and of all that is due only what the desk fires is shown to it.
 */
export async function openMirror(desk: Desk) {
  const clock = new ManualClock();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const shown = new Set<string>();
  const storage = showing(memoryStorage({ now: clock.now }), shown);
  const revocations = new Revocations(storage);
  const { now, schedule } = clock;
  const tokens = new Tokens({ secret, revocations, now, schedule });
  const server = createServer({
    storage,
    secret,
    leaseMs: LEASE,
    claimLeaseMs: LEASE,
    schedule: clock.schedule,
  });
  const { url } = await server.listen();
  /** How far the server's clock is ahead of the desk's, before anything is fired. */
  const ahead = clock.now() - FIRST;
  const ids = new Map<string, string>();
  const wakes = new Map<string, string>();

  const as = async (principal: string, attempt?: { runId: string; attempt: number }) => {
    const named = attempt && { ...attempt, runId: ids.get(attempt.runId) ?? attempt.runId };
    const token = named
      ? tokens.mintAttempt({ principal, tokenIds: [] }, { session: SESSION, ...named })
      : tokens.mint(principal);
    return wire(url, await token);
  };
  const ana = await as("user:ana");
  const { policy } = desk.options;
  await ana.call("PUT", `/v1/sessions/${SESSION}`, { agent: "demo", ...(policy && { policy }) });

  const mirror = {
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
    state: async (): Promise<StateRows> => (await ana.state(SESSION)).state,
    entries: (): Promise<Entry[]> => ana.entries(SESSION),
    /** All that can be seen of the session, to compare it with later. */
    async photograph(): Promise<string> {
      const state = await ana.call("GET", `/v1/sessions/${SESSION}/state`);
      const log = await ana.call("GET", `/v1/sessions/${SESSION}/entries`);
      return JSON.stringify([state, log]);
    },
    /** Does it; the refusal, where there is one. @throws NoWireForm */
    async repeat(act: Act): Promise<Pick<Rejection, "code"> | undefined> {
      switch (act.type) {
        case "tick":
          await clock.advance(act.ms);
          return undefined;
        case "command":
          return say(act);
        case "start":
          return start(act);
        case "timer":
          return fire(act);
      }
    },
  };
  return mirror;

  async function say({ command, actor, verdict }: Extract<Act, { type: "command" }>) {
    if (actor.attempt?.attempt === 0) throw new NoWireForm("Attempts count from 1.");
    const by = await as(actor.principal, actor.attempt);
    const said = await by.command(SESSION, await translate(command));
    if (gist(said) !== gist(verdict))
      throw new Error(`The server said ${gist(said)}, and the desk ${gist(verdict)}`);
    if (verdict.runId !== undefined && said.runId !== undefined) ids.set(verdict.runId, said.runId);
    if (verdict.claimId !== undefined && said.claimId !== undefined)
      ids.set(verdict.claimId, said.claimId);
    return said.error ?? said.skipped?.[0]?.error;
  }

  /** A worker asks for work, and there is only what the desk started. */
  async function start({ start: { runId, wakeId, worker, ...more }, ruling }: StartAct) {
    const id = ids.get(runId) ?? runId;
    const run = (await mirror.state()).runs.find((it) => it.id === id);
    const isReady = run?.status === "queued" && run.wakeId !== undefined && !ruling.error;
    if (isReady) shown.add(`work ${id}`);
    const { claims, tools, complete } = more;
    const declared = { claims, ...(tools && { tools }), ...(complete && { complete }) };
    const again = isReady ? {} : { wakeId: wakes.get(`${id} ${wakeId}`) ?? wakeId };
    const claim = { agent: "demo", worker, instance: worker, waitMs: 0, ...declared, ...again };
    const { work, code } = await claimWork(claim);
    shown.delete(`work ${id}`);
    if (work) wakes.set(`${id} ${wakeId}`, work.wakeId);
    if (work?.runId === id) return undefined;
    // A worker names a wake-up and no run, so that it hears of an ended one what it hears of any other.
    const isEnded = code === "run_held" && run?.status === "ended";
    return { code: isEnded ? "run_ended" : (code ?? "not_found") };
  }

  async function claimWork(claim: object) {
    const agent = await as("agent:demo");
    let isAnswered = false;
    const asked = agent.call("POST", "/v1/work/claim", claim);
    void asked.finally(() => (isAnswered = true));
    while (!isAnswered) await clock.advance(0); // that no work came is a timer's word
    const { body = {} } = await asked;
    return body as { readonly work?: Work; readonly code?: Rejection["code"] };
  }

  async function fire({ timer }: Extract<Act, { type: "timer" }>): Promise<undefined> {
    if (timer.type === "left") throw new NoWireForm("It takes a cut in the middle of a grant.");
    const { runs, calls } = await mirror.state();
    const id = timer.type === "lease" ? (ids.get(timer.runId) ?? "") : timer.callId;
    const call = calls.find((it) => it.id === id);
    if (timer.type === "lease") {
      const run = runs.find((it) => it.id === id);
      if (run?.status === "active" && run.attempt !== timer.attempt)
        throw new NoWireForm("A lease is the newest attempt's.");
    }
    if (timer.type === "claim" && call?.claim && ids.get(timer.claimId) !== call.claim.id)
      throw new NoWireForm("A claim's lease is the newest claim's.");
    const at = timer.type === "approval" ? call?.approval?.expiresAt : call?.deadlineAt;
    const isTimed = timer.type === "approval" || timer.type === "deadline";
    shown.add(`${timer.type} ${id}`);
    await clock.advance(isTimed && (at ?? Infinity) > clock.now() ? 0 : HOUR);
    shown.delete(`${timer.type} ${id}`);
    return undefined;
  }

  /** The command with the server's ids. What only the state tells is looked up there. */
  async function translate(command: Command): Promise<Command> {
    if ("callId" in command) await learn(command);
    const timed =
      command.type === "run.heartbeat" && command.until !== undefined
        ? { ...command, until: command.until + ahead }
        : command;
    return replaced(timed as unknown as Json, ids) as unknown as Command;
  }

  async function learn(command: Command & { readonly callId: string }): Promise<void> {
    const { calls } = await mirror.state();
    const call = calls.find((it) => it.id === command.callId);
    const other = desk.state.calls.get(command.callId);
    if (call?.approval && other?.approval) ids.set(other.approval.id, call.approval.id);
    if (call?.claim?.implicit && "claimId" in command && /^claim\d+$/.test(command.claimId ?? ""))
      ids.set(command.claimId ?? "", call.claim.id);
  }
}

/** What a verdict says apart from ids, offsets, times and words. */
function gist({ status, error, skipped, repeated, stepAttempt, ended }: Verdict): string {
  const refused = skipped?.map((it) => [it.index, it.error.code]);
  return JSON.stringify({ status, code: error?.code, refused, repeated, stepAttempt, ended });
}

type StartAct = Extract<Act, { type: "start" }>;

/** Only rows that are shown come due; the others are there, and far away. */
function showing(inner: Storage, shown: ReadonlySet<string>): Storage {
  const FAR = 8e15;
  return {
    ...inner,
    async due(query) {
      const rows = await inner.due({ ...query, before: Number.MAX_SAFE_INTEGER, limit: 1_000 });
      const isWork = query.kinds.includes("work");
      const isOwn = query.group !== undefined && !isWork;
      const seen = rows.flatMap((row): Due[] =>
        isOwn || shown.has(`${row.kind} ${row.id}`) ? [row] : isWork ? [] : [{ ...row, at: FAR }],
      );
      return seen
        .filter(({ at }) => at <= query.before)
        .toSorted((a, b) => a.at - b.at)
        .slice(0, query.limit);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

function replaced(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => replaced(item, ids));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      item === undefined ? item : replaced(item, ids),
    ]),
  ) as Json;
}
