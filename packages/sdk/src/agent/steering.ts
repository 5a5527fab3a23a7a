import type { MessageContent } from "@holdfast/protocol";
import type { Experimental_Steering as Steering, UserModelMessage } from "ai";
import type { Steers } from "./steers.ts";

/**
 * The AI SDK's own steering, fed with what people send to a run while it is active: each message is in the next model
 * request of the generation it is given to, and a generation that would have ended goes on for it. What it does not
 * take up is left to the run's next attempt.
 */
export async function steeringOf(steers: Steers, signal: AbortSignal): Promise<Steering> {
  const { experimental_createSteering: createSteering } = await import("ai");
  const steering = createSteering();
  if (signal.aborted) return steering;
  const stop = steers.on(({ id, content }) => {
    if (!steers.isTold(id)) void steering.steer(userModelMessage(content), { id });
  });
  signal.addEventListener("abort", stop, { once: true });
  return steering;
}

function userModelMessage(content: MessageContent): UserModelMessage {
  if (typeof content === "string") return { role: "user", content };
  return {
    role: "user",
    content: content.map((part) => {
      if (part.type === "text") return { type: "text", text: part.text };
      const { value, type, mimeType: mediaType = part.type } = part.source;
      return { type: "file", mediaType, data: type === "data" ? value : new URL(value) };
    }),
  };
}
