import { toRows, type Command, type Entry, type Frame, type Verdict } from "@holdfast/protocol";
import { ERROR_CODES, type Rejection } from "@holdfast/protocol";
import { openDesk, type Desk } from "../../../protocol/test/support/desk.ts";

/** What a network may do to what travels over it. */
export interface Faults {
  /** Before a request arrives; a response, or an error to throw, keeps it from arriving. */
  request?: (request: Arrived) => Response | Error | undefined;
  /** After a request was carried out: an error loses its response. */
  response?: (request: Arrived) => Error | undefined;
  /** What is sent of a frame, now. */
  frame?: (frame: Frame) => readonly Frame[];
}

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
}

interface Stream {
  send(text: string): void;
  end(error?: Error): void;
}

/**
 * A network with one server and one session `s1` behind it, as a `fetch`: the rules are the real ones, what lies
 * between is scripted. Speaks docs/protocol/http.md as user `ana`.
 */
export function loopback(options: Parameters<typeof openDesk>[0] = {}, user = "ana") {
  const desk = openDesk(options);
  const faults: Faults = {};
  const streams = new Set<Stream>();
  const requests: Arrived[] = [];
  const verdicts = new Map<string, { body: string; verdict: Verdict }>();
  let sent = desk.entries.length;

  /** Sends what the session gained. */
  function flush(): void {
    const entries = desk.entries.slice(sent);
    if (entries.length === 0) return;
    const after = sent === 0 ? "test.00000000000" : offsetAt(sent - 1);
    sent = desk.entries.length;
    const frame: Frame = { after, entries };
    for (const each of faults.frame?.(frame) ?? [frame]) broadcast(each);
  }

  function offsetAt(at: number): string {
    return desk.entries[at]?.offset ?? "";
  }

  function broadcast(frame: Frame): void {
    for (const stream of streams) stream.send(eventOf(frame));
  }

  function command(body: Command, principal: string): Verdict {
    const text = JSON.stringify(body);
    const known = verdicts.get(body.id);
    if (known) {
      if (known.body !== text)
        return refusal(body.id, { code: "key_reused", message: "Another body." });
      return { ...known.verdict, repeated: true };
    }
    const { id, ...rest } = body;
    const verdict = { ...desk.command(rest, desk.env(`user:${principal}`)), id };
    verdicts.set(id, { body: text, verdict });
    return verdict;
  }

  function refusal(id: string, error: Rejection): Verdict {
    return { id, status: "rejected", offset: desk.state.head, error };
  }

  function answer(request: Arrived, signal: AbortSignal | null | undefined, as: string): Response {
    const [, , , session, what] = request.path.split("/");
    if (session !== "s1") return problem({ code: "unknown_session", message: "No such session." });
    if (what === undefined) return json({ id: "s1", agent: "demo", offset: desk.state.head });
    if (what === "state") return json({ offset: desk.state.head, state: toRows(desk.state) });
    if (what === "commands") {
      const { commands } = request.body as { commands: Command[] };
      const given = commands.map((each) => command(each, as));
      flush();
      return json({ verdicts: given });
    }
    const after = request.query.get("after") ?? "";
    const from = desk.entries.findIndex((entry) => entry.offset > after);
    const rest = from < 0 ? [] : desk.entries.slice(from);
    if (!after.startsWith("test.") || after > desk.state.head)
      return problem({ code: "reset", message: "Another epoch." });
    if (request.headers.get("accept") === "text/event-stream") return stream(after, rest, signal);
    const entries = rest.slice(0, Number(request.query.get("limit") ?? 100));
    return json({
      after,
      entries,
      offset: entries.at(-1)?.offset ?? after,
      upToDate: entries.length === rest.length,
    });
  }

  function stream(after: string, rest: Entry[], signal: AbortSignal | null | undefined): Response {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const mine: Stream = {
          send: (text) => controller.enqueue(encoder.encode(text)),
          end(error) {
            if (!streams.delete(mine)) return;
            if (error) controller.error(error);
            else controller.close();
          },
        };
        streams.add(mine);
        signal?.addEventListener("abort", () => mine.end(new Error("aborted")), { once: true });
        if (rest.length > 0) mine.send(eventOf({ after, entries: rest }));
        else mine.send(": hello\n\n");
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  function connection(as: string): typeof fetch {
    return async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const request: Arrived = {
        method: init?.method ?? "GET",
        path: url.pathname,
        query: url.searchParams,
        headers: new Headers(init?.headers),
        body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
      };
      // A network takes its time, and an abort may come in between.
      await Promise.resolve();
      init?.signal?.throwIfAborted();
      requests.push(request);
      const kept = faults.request?.(request);
      if (kept instanceof Error) throw kept;
      const response = kept ?? answer(request, init?.signal, as);
      const lost = faults.response?.(request);
      if (lost) throw lost;
      return response;
    };
  }

  return {
    desk,
    faults,
    requests,
    url: "http://loopback.test",
    fetch: connection(user),
    /** Another person's way to the same server. */
    fetchAs: connection,
    /** Does something on the server, and sends what came of it. */
    act<T>(action: (desk: Desk) => T): T {
      const result = action(desk);
      flush();
      return result;
    },
    /** Sends to every open stream as it is. */
    broadcast,
    raw(text: string): void {
      for (const each of streams) each.send(text);
    },
    /** Ends every open stream: in peace, or as a broken connection. */
    cut(error?: Error): void {
      for (const each of streams) each.end(error);
    },
    get open() {
      return streams.size;
    },
  };
}

export type Loopback = ReturnType<typeof loopback>;

export function eventOf(frame: Frame): string {
  return `id: ${frame.entries.at(-1)?.offset}\ndata: ${JSON.stringify(frame)}\n\n`;
}

export function problem(error: Rejection): Response {
  const { status } = ERROR_CODES[error.code];
  return new Response(
    JSON.stringify({
      title: error.code,
      status,
      code: error.code,
      detail: error.message,
      details: error.details,
    }),
    { status, headers: { "content-type": "application/problem+json" } },
  );
}

function json(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
}
