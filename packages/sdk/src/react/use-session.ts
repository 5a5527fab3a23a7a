import { useEffect, useSyncExternalStore } from "react";
import type { Client, CreateOptions, Session, SessionStatus } from "../client/index.ts";
import { handleFor, hold } from "./handles.ts";
import { useHoldfast } from "./provider.ts";

export interface UseSessionOptions {
  /** Default: the provider's. */
  readonly client?: Client;
  /** Creates the session where it does not exist. Read when the first component opens it. */
  readonly create?: CreateOptions;
}

export interface SessionInUse {
  readonly session: Session;
  readonly status: SessionStatus;
}

/**
 * Follows a session while the component is mounted; components that name the same session of one client share its
 * handle and connection. Renders again when the status changes, not with every token. A handle of your own is followed
 * as it is and stays yours to close. On a server nothing connects.
 */
export function useSession(
  target: string | Session,
  options: UseSessionOptions = {},
): SessionInUse {
  const provided = useHoldfast();
  const client = options.client ?? provided;
  const session = typeof target === "string" ? open(client, target, options.create) : target;
  const owner = typeof target === "string" ? client : undefined;
  useEffect(() => (owner ? hold(owner, session) : undefined), [owner, session]);
  const status = useSyncExternalStore(
    session.subscribe,
    () => session.status,
    () => session.status,
  );
  return { session, status };
}

function open(client: Client | undefined, id: string, create: CreateOptions | undefined): Session {
  if (client) return handleFor(client, id, create);
  throw new TypeError(
    "useSession needs a client: pass one, or put a HoldfastProvider around the component.",
  );
}
