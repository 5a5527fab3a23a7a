import type { MessageNode } from "./run.ts";
import type { SessionState } from "./state.ts";

/** The ids from the root to a node, both included; empty for a node the session does not know. */
export function pathTo(state: SessionState, nodeId: string): string[] {
  const path: string[] = [];
  const seen = new Set<string>();
  let id: string | undefined = nodeId;
  while (id !== undefined && !seen.has(id)) {
    const node: { readonly parentId?: string } | undefined =
      state.messages.get(id) ?? state.runs.get(id);
    if (!node) break;
    seen.add(id);
    path.push(id);
    id = node.parentId;
  }
  return path.reverse();
}

/** Whether a message steered a run that read it: then it is a part of the run, there, and not a node to show (SPEC 5.8.4). */
export function wasRead(state: SessionState, { id, steers }: MessageNode): boolean {
  if (steers === undefined) return false;
  const steer = state.runs.get(steers)?.steers?.find(({ messageId }) => messageId === id);
  return steer?.consumed === true;
}
