import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { SERVER_ROWS } from "../../src/storage/storage.ts";
import { ANA, startEngine } from "../support/engine.ts";

test("what a server keeps for itself is no session", async () => {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  const rows = [{ kind: "k", id: "i", value: "{}" }];
  const head = "server.00000000000";
  await storage.append({ session: SERVER_ROWS, expect: null, head, rows, due: [] });
  await engine.create("s", { agent: "demo" }, ANA);
  const found = await engine.sessions({ limit: 10 }, () => true);
  expect(found.sessions.map(({ id }) => id)).toEqual(["s"]);
});
