import type { AgentItem, ToolDeclaration, Verdict } from "@holdfast/protocol";

/** An agent of agent `demo` that does what it is told, over HTTP. */
export function scriptedAgent(url: string, mint: () => Promise<string>, tools: ToolDeclaration[]) {
  async function post<T>(path: string, token: string, body: unknown): Promise<T | undefined> {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as T);
  }

  return {
    /** Takes the next run. */
    async take() {
      const claimed = await post<{
        work: { session: string; runId: string; attempt: number; token: string };
      }>("/v1/work/claim", await mint(), {
        agent: "demo",
        worker: "scripted",
        waitMs: 5_000,
        claims: true,
        tools,
      });
      if (!claimed) throw new Error("No work came.");
      const { session, runId, attempt, token } = claimed.work;
      let seq = 0;
      const command = (body: object) =>
        post<Verdict>(`/v1/sessions/${session}/commands`, token, {
          id: crypto.randomUUID(),
          ...body,
        });
      const fenced = (body: object) =>
        command({ runId, attempt, producer: "main", seq: (seq += 1), ...body });
      return {
        runId,
        command,
        append: (...items: AgentItem[]) => fenced({ type: "run.append", items }),
        finish: () => fenced({ type: "run.finish" }),
      };
    },
  };
}
