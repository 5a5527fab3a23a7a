export type { SessionActor } from "./actor.ts";
export { contentOf } from "./audit-record.ts";
export type { DeadDelivery, DeadPage } from "./dead.ts";
export type { Delivery } from "./deliveries.ts";
export { needIn, waitOf } from "./due.ts";
export type { DeliveryKind, Terms } from "./due.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions } from "./engine-options.ts";
export type { FollowOptions } from "./follow.ts";
export type { FrameText } from "./frame.ts";
export { randomId } from "./ids.ts";
export type {
  CallPage,
  CallQuery,
  InboxNews,
  MayRead,
  PendingCall,
  SeesData,
  WatchOptions,
} from "./inbox.ts";
export type { ListedSession, SessionPage, SessionQuery } from "./list.ts";
export { checkLimits, DEFAULT_LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
export type { Page } from "./page.ts";
export type { MayAct, Presence } from "./presence.ts";
export type { Carried, Plan, PlannedCommand } from "./plan.ts";
export type { Rate } from "./rates.ts";
export type { Resumed, SessionView } from "./session-view.ts";
export type { Validator } from "./validate.ts";
export { cursorOf, FULL } from "./visibility.ts";
export type { Snapshot, Visibility } from "./visibility.ts";
export type { ClaimOptions, Work, WorkClaim } from "./work.ts";
export { sha256 } from "../audit/chain.ts";
