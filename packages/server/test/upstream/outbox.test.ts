import type { AgentItem, Command, Verdict } from "@holdfast/protocol";
import { expect, it } from "vitest";
import { Outbox } from "../../src/upstream/outbox.ts";

it("12.5.7 takes what one snapshot comes to, however much that is", async () => {
  let taken = 0;
  const outbox = new Outbox({
    runId: "r",
    attempt: 1,
    async submit(command: Command): Promise<Verdict> {
      if (command.type === "run.append") taken += command.items.length;
      return { id: command.id, status: "applied", offset: "0" } as Verdict;
    },
    schedule: () => () => {},
    onOver: (error) => expect.fail(error.message),
    onRefused: (item) => expect.fail(item.type),
  });
  const item: AgentItem = { type: "CUSTOM", name: "n", value: 1 };
  await outbox.push(
    Array.from({ length: 300_000 }, () => item),
    1,
  );
  await outbox.flush();
  expect(taken).toBe(300_000);
});
