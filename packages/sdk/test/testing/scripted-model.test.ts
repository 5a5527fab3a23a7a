import { scriptedModel } from "@holdfast/sdk/testing";
import { expect, test } from "vitest";

const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];

test("an aborted request ends in the signal's reason: at once while the model pauses, else at its next piece", async () => {
  for (const delayMs of [0, 3_600_000]) {
    const model = scriptedModel({ respond: () => [{ type: "text", text: "one two" }], delayMs });
    const stop = new AbortController();
    const { stream } = await model.doStream({ prompt, abortSignal: stop.signal });
    const reader = stream.getReader();
    expect((await reader.read()).value?.type).toBe("stream-start");
    const next = reader.read();
    const reason = new Error("stop");
    if (delayMs === 0) expect((await next).value?.type).toBe("text-start");
    stop.abort(reason);
    await expect(delayMs === 0 ? reader.read() : next).rejects.toBe(reason);
  }
});

test("a request that was aborted before it began says nothing", async () => {
  const model = scriptedModel({ respond: () => [{ type: "text", text: "one" }] });
  const { stream } = await model.doStream({ prompt, abortSignal: AbortSignal.abort("no") });
  const reader = stream.getReader();
  await reader.read();
  await expect(reader.read()).rejects.toBe("no");
});
