export type { Snapshot } from "./actor.ts";
export type { Terms } from "./due.ts";
export { Engine, randomId } from "./engine.ts";
export type { EngineOptions, SessionView } from "./engine.ts";
export type { FollowOptions } from "./follow.ts";
export type { FrameText } from "./frame.ts";
export type { Page } from "./page.ts";
export type { Validator } from "./validate.ts";
export type { Work, WorkClaim } from "./work.ts";
