import { HttpAgent, type RunAgentInput } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import type { AgUiMessage, Peer } from "@holdfast/protocol/ag-ui";
import { copy } from "../../../../protocol/test/ag-ui/client.ts";
import { eventsIn, type ReadEvent, type Stage } from "./stage.ts";

/** What a stock client holds. */
export interface Seen {
  readonly messages: AgUiMessage[];
  readonly state: unknown;
}

/** A stock client on its way. */
export interface Reader {
  /** Settles once its response has begun: its place in the log is taken. */
  readonly placed: Promise<number>;
  /** The frames that came so far, each with its end. */
  readonly frames: string[];
  /** What it holds once its stream is over; rejects where its verifier complained. */
  readonly ended: Promise<Seen>;
}

/** What is asked beside what is held. */
export type Asking = Pick<Partial<RunAgentInput>, "runId" | "tools" | "resume">;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A stock client of a version, which reads one stream that `fetch` gives it for what it would post: through its own parser,
 * verifier and reducer.
 */
export function read(
  peer: Peer,
  fetch: (body: RunAgentInput) => Promise<Response>,
  { holding, asking = {} }: { readonly holding?: Seen; readonly asking?: Asking } = {},
): Reader {
  const frames: string[] = [];
  const placed = Promise.withResolvers<number>();
  const noting: Fetch = async (_, { body }) => {
    // They send text.
    const response = await fetch(JSON.parse(body as string));
    placed.resolve(response.status);
    return new Response(response.body?.pipeThrough(noteFrames(frames)) ?? null, response);
  };
  const config = {
    url: "http://thread.test",
    threadId: "s1",
    fetch: noting,
    initialMessages: copy(holding?.messages ?? []) as never[],
    initialState: copy(holding?.state ?? {}),
  };
  const agent = peer === "0" ? new HttpAgent0(config) : new HttpAgent(config);
  const failures: unknown[] = [];
  const ended = agent.runAgent(
    asking as never,
    {
      onRunFailed: ({ error }: { error: unknown }) => void failures.push(error),
    } as never,
  );
  // A failure is found where its reader is looked at, which is later.
  ended.catch(() => {});
  placed.promise.catch(() => {});
  return {
    placed: placed.promise,
    frames,
    ended: ended.then(() => {
      if (failures.length > 0) throw failures[0];
      return copy({ messages: agent.messages as AgUiMessage[], state: agent.state as unknown });
    }),
  };
}

/** Joins the thread, as clients of a version ask for it. */
export function join(stage: Stage, peer: Peer): Reader {
  return read(peer, () => ask(stage, "/connect", peer === "0" ? {} : { protocolVersion: "1.0" }));
}

export function ask(
  stage: Stage,
  verb: string,
  body: object,
  lastEventId?: string,
): Promise<Response> {
  return fetch(`${stage.url}/v1/sessions/s1/ag-ui${verb}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${stage.token("user:bo")}`,
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    },
    body: JSON.stringify(body),
  });
}

/** Some frames as they came before, then what another response brings. */
export function stitched(frames: readonly string[], rest: Response): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void (async () => {
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode(frames.join("")));
    writer.releaseLock();
    if (rest.body) await rest.body.pipeTo(writable);
    else await writable.close();
  })();
  return new Response(readable, { headers: { "content-type": "text/event-stream" } });
}

export function eventIn(frame: string): ReadEvent | undefined {
  return eventsIn(frame)[0];
}

/** The version of a request that a client of before 1.0 makes of it. */
export function asOf(peer: Peer, body: RunAgentInput): object {
  const { protocolVersion: _, ...rest } = body;
  return peer === "0" ? rest : body;
}

function noteFrames(frames: string[]): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const [last = "", ...whole] = (rest + decoder.decode(chunk, { stream: true }))
        .split("\n\n")
        .toReversed();
      rest = last;
      for (const frame of whole.toReversed())
        if (!frame.startsWith(":")) frames.push(`${frame}\n\n`);
      controller.enqueue(chunk);
    },
  });
}
