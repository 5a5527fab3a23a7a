import {
  HoldfastError,
  reject,
  type Command,
  type Rejection,
  type Verdict,
} from "@holdfast/protocol";
import { isId, isObject, parseCommand } from "@holdfast/protocol/schemas";
import { actorOf, mayCommand, mayEnter, type Identity } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import { readJson } from "../body.ts";
import type { App, HttpOptions } from "../context.ts";
import { sessionId } from "../params.ts";
import { toResponse, type Answer } from "../answer.ts";
import { refusal } from "../problem.ts";

const MOST_COMMANDS = 1000;

export function commandRoutes(app: App, options: HttpOptions): void {
  const { tokens, maxBodyBytes } = options;

  app.post("/v1/sessions/:id/commands", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    const session = sessionId(c.req);
    mayEnter(identity, session);
    const body = await readJson(c.req.raw, maxBodyBytes);
    return toResponse(await answerCommands(options, session, identity, body));
  });
}

/**
 * Decides what a body asks: one command, or a batch of them.
 *
 * @throws HoldfastError for what cannot be read or may not be said, and for an unknown session
 */
export async function answerCommands(
  options: HttpOptions,
  session: string,
  identity: Identity,
  body: unknown,
): Promise<Answer> {
  if (isObject(body) && body["commands"] !== undefined) {
    const verdicts = await submitBatch(options, session, identity, body["commands"]);
    return json({ verdicts });
  }
  const command = admit(options, session, identity, body);
  const [verdict] = await options.engine.submit(session, [command], actorOf(identity, session));
  if (!verdict?.error) return json(verdict);
  const { id, offset, error } = verdict;
  return refusal(error, { id, offset });
}

function json(value: unknown): Answer {
  return { status: 200, type: "application/json", body: JSON.stringify(value) };
}

/**
 * Each command on its own: one that cannot be read is refused, and the others stand.
 *
 * @throws HoldfastError for what is no batch, and for an unknown session
 */
export async function submitBatch(
  options: HttpOptions,
  session: string,
  identity: Identity,
  bodies: unknown,
): Promise<Verdict[]> {
  if (!Array.isArray(bodies) || bodies.length > MOST_COMMANDS) {
    throw new HoldfastError(
      reject(
        "invalid_request",
        `commands: must be an array of at most ${MOST_COMMANDS} commands.`,
        {
          limit: MOST_COMMANDS,
          ...(Array.isArray(bodies) && { value: bodies.length }),
        },
      ),
    );
  }
  const read = bodies.map((body) => tryAdmit(options, session, identity, body));
  const commands = read.flatMap(({ command }) => (command ? [command] : []));
  const verdicts = await options.engine.submit(session, commands, actorOf(identity, session));
  const offset = verdicts.at(-1)?.offset ?? (await options.engine.session(session)).offset;
  return read.flatMap(({ id, error }) =>
    error ? [{ id, status: "rejected" as const, offset, error }] : verdicts.splice(0, 1),
  );
}

function tryAdmit(
  options: HttpOptions,
  session: string,
  identity: Identity,
  body: unknown,
): { id: string; command?: Command; error?: Rejection } {
  const id = isObject(body) && isId(body["id"]) ? body["id"] : "";
  try {
    return { id, command: admit(options, session, identity, body) };
  } catch (error) {
    if (error instanceof HoldfastError) return { id, error: error.toRejection() };
    throw error;
  }
}

/**
 * A command that may be decided: it can be read, and its sender may say it. What cannot be read is no command, and
 * leaves no record.
 *
 * @throws HoldfastError otherwise
 */
export function admit(
  { engine }: HttpOptions,
  session: string,
  identity: Identity,
  body: unknown,
): Command {
  const command = parseCommand(body);
  try {
    mayCommand(identity, session, command);
    if (command.type === "tools.advertise") engine.validator.check(command.tools);
    if (command.type === "policy.set") engine.validator.checkPolicy(command.policy);
  } catch (error) {
    if (error instanceof HoldfastError)
      engine.trail.noteRefusal(session, command, actorOf(identity, session), error.toRejection());
    throw error;
  }
  return command;
}
