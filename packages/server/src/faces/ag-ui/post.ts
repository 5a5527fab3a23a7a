import { findActivation, HoldfastError, type SessionState } from "@holdfast/protocol";
import type { AgUiInput, ProjectionOptions } from "@holdfast/protocol/ag-ui";
import { actorOf, canSend, mayRead, type Identity } from "../../auth/index.ts";
import type { PlannedCommand } from "../../engine/index.ts";
import type { HttpOptions } from "../../http/context.ts";
import { admit } from "../../http/index.ts";
import { joinAnew } from "./cursor.ts";
import { planPost, type Planning } from "./plan.ts";
import { peerOf } from "./read-input.ts";
import { requestStory } from "./request-story.ts";
import { resumeBehind } from "./resume.ts";
import { tellStory, type Asking } from "./tell-story.ts";
import { runIdOf, type Asked } from "./thread-story.ts";

/**
 * Does what an input asks, all of it or nothing, and answers with the activation it asked for, held until that begins
 * (SPEC 12.4.2). The same input again attaches to what it began, behind `Last-Event-ID` where that is given.
 *
 * @throws HoldfastError for what is refused, before any of it is written
 */
export function answerPost(
  options: HttpOptions,
  input: AgUiInput,
  asking: Asking,
): Promise<Response> {
  const { engine } = options;
  const { identity, session, lastEventId } = asking;
  mayRead(identity, session);
  return tellStory(options, asking, async ({ state, visibility }) => {
    // Only what was begun can be gone on from; that is said before anything is done.
    if (lastEventId !== undefined && !findActivation(state, input.runId)) {
      throw joinAnew(lastEventId);
    }
    const done = await carryOut(options, input, asking);
    const { asked, since, showsAll } = done;
    const projection = projectionFor(state, input, asked);
    const own = { ...projection, runId: asked.runId };
    const resumed =
      lastEventId === undefined
        ? undefined
        : await resumeBehind(state, { engine, session, visibility, options: own, lastEventId });
    return requestStory(state, asked, {
      ...projection,
      since,
      showsAll,
      ...(resumed && { resumed }),
    });
  });
}

/** How a client is told of its thread: by the ids it posted, beside what it holds. */
function projectionFor(state: SessionState, input: AgUiInput, asked: Asked): ProjectionOptions {
  return {
    threadId: input.threadId,
    peer: peerOf(input),
    runIdOf: runIdOf(state, asked),
    messages: input.messages,
    ...(input.state !== undefined && { state: input.state as unknown }),
  };
}

async function carryOut(
  options: HttpOptions,
  input: AgUiInput,
  { identity, session }: Asking,
): Promise<{ readonly asked: Asked; readonly since: string; readonly showsAll: boolean }> {
  const { engine } = options;
  let planned: readonly PlannedCommand[] = [];
  const carried = await engine.carryOut(
    session,
    (state, env) => {
      const plan = planPost(input, state, {
        ...planningFor(options, identity, session),
        now: env.now,
        digest: (text) => env.digest(text),
      });
      if ("steps" in plan) planned = plan.steps;
      return plan;
    },
    { actor: actorOf(identity, session), count: 1 + (input.resume?.length ?? 0) },
  );
  if (carried.refused) throw new HoldfastError(carried.refused);
  const last = carried.verdicts.at(-1);
  const { runId, activation, offset } = last ?? {};
  if (runId === undefined || activation === undefined || offset === undefined) {
    throw new Error(`The plan for AG-UI run ${input.runId} asked for none.`);
  }
  const types = new Set(planned.flatMap(({ command, late }) => (late ? [] : command.type)));
  const settles = types.has("call.answer") || types.has("call.decide");
  return {
    asked: { id: input.runId, runId, activation },
    since: offset,
    showsAll: settles && types.has("message.send"),
  };
}

/** What of planning depends on who posts. */
export function planningFor(
  options: HttpOptions,
  identity: Identity,
  session: string,
): Pick<Planning, "admit" | "maySend"> {
  return {
    admit(body) {
      try {
        const command = { id: crypto.randomUUID(), ...body };
        return { command: admit(options, session, identity, command) };
      } catch (error) {
        if (error instanceof HoldfastError) return { refused: error.toRejection() };
        throw error;
      }
    },
    maySend: canSend(identity, session),
  };
}
