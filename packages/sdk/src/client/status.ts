import type { HoldfastError } from "@holdfast/protocol";
import type { Link } from "../wire/index.ts";

/** The life of a session handle's connection. `closed` is final. */
export type SessionStatus =
  | { readonly type: "connecting" }
  | { readonly type: "live" }
  /** `retryAt` is Unix milliseconds; `error` what broke. */
  | { readonly type: "reconnecting"; readonly retryAt: number; readonly error: HoldfastError }
  | { readonly type: "offline"; readonly error: HoldfastError }
  /** `error` is what ended it; absent when it was closed on purpose. */
  | { readonly type: "closed"; readonly error?: HoldfastError };

export type StatusEvent = Link | { readonly type: "closed"; readonly error?: HoldfastError };

/** The status after an event. Total; the same object where nothing changes. */
export function nextStatus(status: SessionStatus, event: StatusEvent): SessionStatus {
  if (status.type === "closed") return status;
  switch (event.type) {
    case "connected":
      return status.type === "live" ? status : { type: "live" };
    case "lost":
      return { type: "reconnecting", retryAt: event.retryAt, error: event.error };
    case "offline":
      return { type: "offline", error: event.error };
    case "closed":
      return event;
  }
}
