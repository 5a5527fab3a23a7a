import { proposal, type Desk } from "../support/desk.ts";

/** Positions that a walk seldom gets to by itself, so that some begin there. */
export const OPENINGS: readonly ((desk: Desk) => void)[] = [
  () => {},
  /** A run at its second attempt, with a call in every state. */
  (desk) => void atWork(desk),
  /** The same, waiting for others. */
  (desk) => void desk.agent(atWork(desk)).finish(),
  /** A run that lost its second attempt too, in the queue. */
  (desk) => {
    const runId = desk.send("m1");
    lose(desk, runId);
    lose(desk, runId);
  },
  /** A run near its budget of rounds, one step at its second attempt and ended, one open, and a message to read. */
  (desk) => {
    const agent = desk.agent(atWork(desk));
    for (let rounds = 8; rounds > 0; rounds -= 1) agent.append({ type: "round.open" });
    for (const stepId of ["a", "a", "b"]) {
      agent.startStep(stepId);
      agent.step(stepId).append(...proposal(`s:${stepId}`, "job"));
    }
    agent.endStep("a");
    desk.send("s1", { whileActive: "steer" });
  },
];

function lose(desk: Desk, runId: string): void {
  desk.start(runId);
  desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
}

function atWork(desk: Desk): string {
  const runId = desk.send("m1");
  lose(desk, runId);
  desk.start(runId);
  const agent = desk.agent(runId);
  agent.append(
    { type: "round.open" },
    ...proposal("gj", "gated-job", '{"a":1}'),
    ...proposal("gp", "gated-page", '{"a":1}'),
    ...proposal("pg", "page", '{"a":1}'),
    ...proposal("cp", "safe-page"),
    ...proposal("jb", "job"),
    { type: "round.close" },
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "st", toolCallName: "job" },
  );
  desk.user({ type: "call.claim", callId: "cp" });
  return runId;
}
