import type { Codec, EncoderScope, SessionState } from "@holdfast/protocol";
import type { ModelMessage, UIMessageChunk } from "ai";
import { createEncoder } from "./encoder.ts";
import { NAME } from "./extras.ts";
import { toModelMessages, type ModelMessagesOptions } from "./to-model-messages.ts";

/** The codec of the AI SDK: UI message chunks in, model messages out. */
export const aiSdk = {
  name: NAME,
  encoder: (scope: EncoderScope) => createEncoder(scope),
  history: (state: SessionState, options: ModelMessagesOptions) => toModelMessages(state, options),
} as const satisfies Codec<UIMessageChunk, ModelMessage[]>;
