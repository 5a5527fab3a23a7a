import type { Entry } from "../entry.ts";
import type { EventOf } from "../events.ts";
import { patchMetadata } from "../metadata.ts";
import { omit } from "../omit.ts";
import type { SessionRow, SessionState } from "../state.ts";
import { putMessage, type Changes } from "./changes.ts";

/** How many tools a session knows of clients: those that were advertised last. */
const MAX_ADVERTISED = 1024;

export function reduceSession(state: SessionState, entry: Entry, changes: Changes): void {
  const { event } = entry;
  switch (event.type) {
    case "session.created":
      state.session = {
        ...state.session,
        agent: event.agent,
        createdAt: entry.at,
        owner: event.owner ?? entry.actor,
        ...(event.metadata && { metadata: event.metadata }),
        ...(event.ttlMs !== undefined && { ttlMs: event.ttlMs }),
      };
      break;
    case "session.updated":
      state.session = updated(state.session, event);
      break;
    case "session.closed": {
      const { reason } = event;
      const closed = { by: entry.actor, at: entry.at, ...(reason !== undefined && { reason }) };
      state.session = { ...state.session, closed };
      break;
    }
    case "policy.set":
      state.session = { ...state.session, policy: event.policy };
      break;
    case "tools.advertised": {
      const names = new Set(event.tools.map((tool) => tool.name));
      const { advertised } = state.session;
      const kept = advertised.filter((known) => !names.has(known.tool.name));
      const added = event.tools.map((tool) => {
        const known = advertised.find((it) => it.tool.name === tool.name);
        const isSame = known?.tool.digest === tool.digest;
        return {
          tool,
          version: (known?.version ?? 0) + (known && isSame ? 0 : 1),
          by: entry.actor,
          at: known && isSame ? known.at : entry.at,
          lastSeen: entry.at,
        };
      });
      const newest = [...kept, ...added].slice(-MAX_ADVERTISED);
      state.session = { ...state.session, advertised: newest };
      break;
    }
    case "approval.granted":
    case "approval.revoked": {
      const others = (state.session.grants ?? []).filter(({ tool }) => tool !== event.tool);
      const grant = { tool: event.tool, by: entry.actor, at: entry.at };
      state.session = {
        ...state.session,
        grants: event.type === "approval.granted" ? [...others, grant] : others,
      };
      break;
    }
    case "message.added":
      putMessage(
        state,
        {
          id: event.messageId,
          role: event.role,
          content: event.content,
          offset: entry.offset,
          by: entry.actor,
          at: entry.at,
          ...(event.parentId !== undefined && { parentId: event.parentId }),
          ...(event.steers !== undefined && { steers: event.steers }),
          ...(event.metadata && { metadata: event.metadata }),
        },
        changes,
      );
      return;
    default:
      return;
  }
  changes.touch("session", state.session.id);
}

function updated(session: SessionRow, event: EventOf<"session.updated">): SessionRow {
  const { metadata, ttlMs } = event;
  return {
    ...(ttlMs === null ? omit(session, "ttlMs") : session),
    ...(typeof ttlMs === "number" && { ttlMs }),
    ...(metadata && { metadata: patchMetadata(session.metadata, metadata) }),
  };
}
