export { aiSdk } from "./codec.ts";
export { createEncoder } from "./encoder.ts";
export type { AiSdkScope } from "./scope.ts";
export { toModelMessages } from "./to-model-messages.ts";
export type { ModelMessagesOptions } from "./to-model-messages.ts";
export { toUIMessage, toUIMessages } from "./to-ui-message.ts";
