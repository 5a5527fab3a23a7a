import { canRead, type Identity } from "../auth/index.ts";
import type { Engine } from "../engine/index.ts";

/** How many sessions are looked at together. */
const LOOK = 1000;

/**
 * At most `limit` sessions after one, by id, of those that an identity may read. Looks on until it has as many, so that
 * no other's id shows as where to go on: costs the sessions in between.
 */
export async function readableSessions(
  engine: Engine,
  identity: Identity,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<{ id: string; offset: string }[]> {
  const found: { id: string; offset: string }[] = [];
  let from = after;
  for (;;) {
    const page = await engine.sessions({ limit: LOOK, ...(from !== undefined && { after: from }) });
    for (const { session: id, head: offset } of page) {
      if (canRead(identity, id)) found.push({ id, offset });
      if (found.length === limit) return found;
    }
    if (page.length < LOOK) return found;
    from = page.at(-1)?.session;
  }
}
