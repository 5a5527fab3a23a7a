import type { Client, CreateOptions, Session } from "../client/index.ts";

/** The handles that components of one client share. */
interface Handles {
  /** Handles of mounted components, with how many hold them. */
  readonly held: Map<string, { readonly session: Session; count: number }>;
  /** Made while rendering; a render that is never mounted just drops its handle. */
  readonly rendered: Map<string, WeakRef<Session>>;
}

const handlesOf = new WeakMap<Client, Handles>();

/** The handle components share for a session, made if there is none; it does not connect before it is held. */
export function handleFor(client: Client, id: string, create: CreateOptions | undefined): Session {
  const { held, rendered } = handles(client);
  const known = held.get(id)?.session ?? rendered.get(id)?.deref();
  // A closed handle is kept while somebody shows it: to open it again is the application's decision.
  if (known && (known.status.type !== "closed" || held.has(id))) return known;
  const session = client.open(id, { lazy: true, ...(create && { create }) });
  rendered.set(id, new WeakRef(session));
  return session;
}

/** Connects a handle and keeps it open; the last to let go closes it. Effects may hold and let go in turns. */
export function hold(client: Client, session: Session): () => void {
  const { held, rendered } = handles(client);
  let entry = held.get(session.id);
  if (!entry) held.set(session.id, (entry = { session, count: 0 }));
  const mine = entry;
  mine.count += 1;
  session.connect();
  return () => {
    mine.count -= 1;
    // A component that is only moved or mounted twice is back before this turn ends.
    setTimeout(() => {
      if (mine.count > 0 || held.get(session.id) !== mine) return;
      held.delete(session.id);
      rendered.delete(session.id);
      void session.close();
    }, 0);
  };
}

function handles(client: Client): Handles {
  let known = handlesOf.get(client);
  if (!known) handlesOf.set(client, (known = { held: new Map(), rendered: new Map() }));
  return known;
}
