export type { WebhookOptions, WebhookTarget } from "./options.ts";
export { checkWebhooks, startWebhooks } from "./webhooks.ts";
export type { Webhooks } from "./webhooks.ts";
