import { once } from "node:events";
import { WebSocket } from "ws";
import { begin, type Attempt } from "./appends.ts";
import { resultOf, type LoadResult } from "./load.ts";

export interface SocketLoad {
  readonly sessions: number;
  /** Spread over this many sockets. */
  readonly sockets: number;
  /** Frames of one session that are on their way at once. */
  readonly inFlight: number;
  readonly seconds: number;
  /** How much processor time the server has had, in milliseconds. */
  readonly cpuMs: () => Promise<number>;
}

/** What a load came to; a request is an event, a latency a frame's. */
export interface SocketResult extends LoadResult {
  /** What the server worked for a frame, in microseconds. */
  readonly cpuUs: number;
}

/** Tokens of one frame: what an agent's outbox gathers of a fast model while a commit is under way. */
export const BATCH = 20;
/** Frames of one message, after which the next begins. */
const MESSAGE = 25;
const WORDS =
  "It should stay mild in Oslo today , with light rain near the coast and clear skies .".split(" ");

type Streaming = Pick<Attempt, "runId" | "attempt" | "token"> & { readonly session: string };

interface Session {
  readonly attempt: Streaming;
  readonly socket: WebSocket;
  seq: number;
  /** When the frames that have no answer were sent, oldest first. */
  readonly at: number[];
}

/** What tells one server from another. */
interface Peer {
  readonly path: string;
  open(socket: WebSocket, attempts: readonly Streaming[]): Promise<void>;
  /** The session and the last of its frames that an answer is for. */
  answer(
    text: string,
    sessions: ReadonlyMap<string, Session>,
  ): { readonly session: Session; readonly seq: number };
}

/**
 * Token events appended to Holdfast over WebSockets: frames of {@link BATCH} tokens, several a session on their way,
 * acknowledged cumulatively once they are durable.
 */
export async function socketAppends(url: string, load: SocketLoad): Promise<SocketResult> {
  const agent = crypto.randomUUID();
  const attempts: Streaming[] = [];
  // One after the other, so that each claim gets the session it is for.
  for (let n = 0; n < load.sessions; n += 1) {
    const session = crypto.randomUUID();
    attempts.push({ session, ...(await begin(url, session, 0, agent)) });
  }
  return run(url, load, attempts, {
    path: "/v1/ws",
    async open(socket, mine) {
      for (const [n, { token }] of mine.entries()) {
        socket.send(JSON.stringify({ type: n === 0 ? "auth" : "attempt", token }));
        await once(socket, "message");
      }
    },
    answer(text, sessions) {
      const frame = JSON.parse(text) as { type: string; session: string; seq: number };
      const session = sessions.get(frame.session);
      if (frame.type !== "ack" || !session) throw new Error(`Refused: ${text.slice(0, 300)}`);
      return { session, seq: frame.seq };
    },
  });
}

/** The same frames to a bare server that sends them back. */
export async function socketEcho(url: string, load: SocketLoad): Promise<SocketResult> {
  const attempts = Array.from({ length: load.sessions }, () => ({
    session: crypto.randomUUID(),
    runId: crypto.randomUUID(),
    attempt: 1,
    token: "",
  }));
  return run(url, load, attempts, {
    path: "/",
    open: async () => {},
    answer(text, sessions) {
      // As little as can be, to find out whose it is.
      const session = sessions.get(text.slice(SESSION_AT, SESSION_AT + 36));
      if (!session) throw new Error(`No session in ${text.slice(0, 100)}`);
      return { session, seq: session.seq - session.at.length + 1 };
    },
  });
}

async function run(
  url: string,
  { sockets: count, inFlight, seconds, cpuMs }: SocketLoad,
  attempts: readonly Streaming[],
  peer: Peer,
): Promise<SocketResult> {
  const sessions = new Map<string, Session>();
  const sockets: WebSocket[] = [];
  const latencies: number[] = [];
  let warm = Infinity;
  let end = Infinity;
  let frames = 0;
  let events = 0;
  let under = 0;
  const { promise: idle, resolve, reject } = Promise.withResolvers<void>();

  function send(session: Session): void {
    session.seq += 1;
    session.at.push(performance.now());
    under += 1;
    session.socket.send(frameOf(session));
  }

  function hear(data: Buffer): void {
    const { session, seq } = peer.answer(data.toString("latin1"), sessions);
    const now = performance.now();
    const done = seq - (session.seq - session.at.length);
    for (const begun of session.at.splice(0, done)) {
      under -= 1;
      frames += 1;
      if (now < warm || now > end) continue;
      events += BATCH;
      latencies.push(now - begun);
    }
    if (now < end) for (let n = 0; n < done; n += 1) send(session);
    else if (under === 0) resolve();
  }

  for (let n = 0; n < count; n += 1) {
    const socket = new WebSocket(`${url.replace("http", "ws")}${peer.path}`, {
      perMessageDeflate: false,
    });
    sockets.push(socket);
    await once(socket, "open");
    const mine = attempts.filter((_, at) => at % count === n);
    await peer.open(socket, mine);
    for (const attempt of mine) sessions.set(attempt.session, { attempt, socket, seq: 0, at: [] });
    socket.on("message", (data: Buffer) => {
      try {
        hear(data);
      } catch (error) {
        reject(error as Error);
      }
    });
    socket.on("close", () => reject(new Error("The server closed a socket.")));
  }
  const before = await cpuMs();
  warm = performance.now() + seconds * 250;
  end = warm + seconds * 1000;
  for (const session of sessions.values()) for (let n = 0; n < inFlight; n += 1) send(session);
  try {
    await idle;
  } finally {
    for (const socket of sockets) socket.removeAllListeners("close").terminate();
  }
  const cpuUs = ((await cpuMs()) - before) * (1000 / frames);
  const result = resultOf(latencies, seconds);
  return { ...result, requests: events, perSecond: events / seconds, cpuUs };
}

/** Made as text, so that the load costs little beside what it measures. */
function frameOf({ attempt: { session, runId, attempt }, seq }: Session): string {
  const head = `{"type":"append","session":"${session}","command":{"id":"${seq}","type":"run.append","runId":"${runId}","attempt":${attempt},"producer":"main","seq":${seq},"items":[`;
  const id = `${runId}-${Math.floor((seq - 1) / MESSAGE)}`;
  const place = (seq - 1) % MESSAGE;
  const first =
    place === 0 ? `{"type":"TEXT_MESSAGE_START","messageId":"${id}","role":"assistant"},` : "";
  const last = place === MESSAGE - 1 ? `,{"type":"TEXT_MESSAGE_END","messageId":"${id}"}` : "";
  let tokens = "";
  for (let n = 0; n < BATCH; n += 1) {
    const word = WORDS[(seq + n) % WORDS.length];
    tokens += `${n === 0 ? "" : ","}{"type":"TEXT_MESSAGE_CONTENT","messageId":"${id}","delta":"${word} "}`;
  }
  return `${head}${first}${tokens}${last}]}}`;
}

const SESSION_AT = '{"type":"append","session":"'.length;
