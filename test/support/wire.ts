import type {
  AuditRecord,
  Command,
  CommandBody,
  Entry,
  StateRows,
  Verdict,
} from "@holdfast/protocol";

/** The HTTP face through plain `fetch`, for tests that look at the server from outside. */
export function wire(url: string, token: string) {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
  };
  const self = {
    token,
    call,
    as: (other: string) => wire(url, other),
    create: (session: string, agent = "demo") =>
      call("PUT", `/v1/sessions/${encodeURIComponent(session)}`, { agent }),
    /** Sends one command and gives its verdict, whatever it is. */
    async command(session: string, command: CommandBody & { id?: string }): Promise<Verdict> {
      const sent: Command = { id: crypto.randomUUID(), ...command };
      const answer = await call("POST", `/v1/sessions/${encodeURIComponent(session)}/commands`, {
        commands: [sent],
      });
      const { verdicts } = answer.body as { verdicts?: Verdict[] };
      const verdict = verdicts?.[0];
      if (!verdict)
        throw new Error(`No verdict but ${answer.status}: ${JSON.stringify(answer.body)}`);
      return verdict;
    },
    async state(session: string): Promise<{ offset: string; state: StateRows }> {
      return (await call("GET", `/v1/sessions/${encodeURIComponent(session)}/state`)).body as never;
    },
    /** The whole log, page by page. */
    async entries(session: string): Promise<Entry[]> {
      const all: Entry[] = [];
      let after: string | undefined;
      for (;;) {
        const query = after === undefined ? "" : `?after=${after}`;
        const page = (
          await call("GET", `/v1/sessions/${encodeURIComponent(session)}/entries${query}`)
        ).body as {
          entries: Entry[];
          offset: string;
          upToDate: boolean;
        };
        all.push(...page.entries);
        if (page.upToDate) return all;
        after = page.offset;
      }
    },
    /** What was refused, page by page. */
    async audit(session: string): Promise<AuditRecord[]> {
      const all: AuditRecord[] = [];
      let after: number | undefined = 0;
      while (after !== undefined) {
        const path = `/v1/sessions/${encodeURIComponent(session)}/audit?after=${after}`;
        const page = (await call("GET", path)).body as { records: AuditRecord[]; next?: number };
        all.push(...page.records);
        after = page.next;
      }
      return all;
    },
    /** The live stream from a cursor, as text. */
    async stream(session: string, after?: string) {
      const cut = new AbortController();
      const query = after === undefined ? "" : `?after=${after}`;
      const response = await fetch(
        `${url}/v1/sessions/${encodeURIComponent(session)}/entries${query}`,
        {
          headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
          signal: cut.signal,
        },
      );
      if (!response.ok || !response.body) throw new Error(`No stream but ${response.status}.`);
      return {
        frames: response.body.pipeThrough(new TextDecoderStream()),
        stop: () => cut.abort(),
      };
    },
    async claimWork(options: {
      worker: string;
      agent?: string;
      waitMs?: number;
      [key: string]: unknown;
    }): Promise<Work | undefined> {
      const { status, body } = await call("POST", "/v1/work/claim", {
        agent: "demo",
        waitMs: 5_000,
        ...options,
      });
      if (status === 204) return undefined;
      if (status !== 200) throw new Error(`No work but ${status}: ${JSON.stringify(body)}`);
      return (body as { work: Work }).work;
    },
    /** Asks again for the attempt of a wake-up: it, or the code of the refusal. */
    async claimAgain(options: { worker: string; wakeId: string; [key: string]: unknown }) {
      const { body } = await call("POST", "/v1/work/claim", {
        agent: "demo",
        waitMs: 0,
        ...options,
      });
      return body as { readonly work?: Work; readonly code?: string };
    },
    /** Reads the state again after every frame until it is as wanted. */
    async until(session: string, wanted: (state: StateRows) => boolean): Promise<StateRows> {
      const { frames, stop } = await self.stream(session);
      const reader = frames.getReader();
      try {
        for (;;) {
          const { state } = await self.state(session);
          if (wanted(state)) return state;
          if ((await reader.read()).done) throw new Error("The stream ended.");
        }
      } finally {
        stop();
        await reader.cancel().catch(() => undefined); // it was just cut off
      }
    },
  };
  return self;
}

export type Wire = ReturnType<typeof wire>;

/** What `POST /v1/work/claim` grants. */
export interface Work {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly wakeId: string;
  readonly token: string;
}

/** A development token for a person or an agent. */
export async function devToken(
  url: string,
  who: { name: string } | { agent: string },
): Promise<string> {
  const response = await fetch(`${url}/v1/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(who),
  });
  if (!response.ok) throw new Error(`No token but ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}
