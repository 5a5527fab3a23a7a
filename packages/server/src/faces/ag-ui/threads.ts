import { emptyState, HoldfastError, reject, toOffset } from "@holdfast/protocol";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import { actorOf, mayCreate, mayRead } from "../../auth/index.ts";
import { sha256 } from "../../engine/index.ts";
import type { HttpOptions } from "../../http/context.ts";
import { planningFor } from "./post.ts";
import { planPost } from "./plan.ts";
import type { Asking } from "./tell-story.ts";

/**
 * An agent's thread, which is a session: made where there is none and its poster may, and says something there.
 *
 * @throws HoldfastError `forbidden`; `unknown_session` where the session is another agent's; what the input would be
 *   refused with
 */
export async function makeThread(
  options: HttpOptions,
  {
    agent,
    input,
    asking,
  }: { readonly agent: string; readonly input: AgUiInput; readonly asking: Asking },
): Promise<void> {
  const { engine } = options;
  const { identity, session } = asking;
  mayRead(identity, session);
  if (await isThread(options, agent, session)) return;
  mayCreate(identity, session);
  const empty = emptyState(toOffset("none", 0), { id: session, createdAt: 0 });
  const planning = { ...planningFor(options, identity, session), now: 0, digest: sha256 };
  const plan = planPost(input, empty, planning);
  if ("refused" in plan) throw new HoldfastError(plan.refused);
  const made = await engine.create(session, { agent }, actorOf(identity, session));
  if (made.session.agent !== agent) throw unknownThread(agent, session);
}

/** @throws HoldfastError `forbidden`, or `unknown_session` where the agent has no such thread */
export async function requireThread(
  options: HttpOptions,
  agent: string,
  { identity, session }: Asking,
): Promise<void> {
  mayRead(identity, session);
  if (!(await isThread(options, agent, session))) throw unknownThread(agent, session);
}

/** Whether there is such a session. @throws HoldfastError `unknown_session` where it is another agent's */
async function isThread({ engine }: HttpOptions, agent: string, session: string): Promise<boolean> {
  try {
    const found = await engine.session(session);
    if (found.agent === agent) return true;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "unknown_session") return false;
    throw error;
  }
  throw unknownThread(agent, session);
}

function unknownThread(agent: string, session: string): HoldfastError {
  return new HoldfastError(
    reject("unknown_session", `Agent ${agent} has no thread ${session}: post to it first.`),
  );
}
