import type { Call, Json } from "@holdfast/protocol";
import type { Session } from "@holdfast/sdk/client";
import type { LocationPhase } from "./components/card/location-panel.tsx";
import { nameOf } from "./format.ts";
import { whereAmI } from "./where-am-i.ts";

/**
 * Runs the client tool `location` where a person agreed to it. Nothing is claimed before a press of a button: every
 * page of the session offers it, the first to be granted the claim runs it, and the others see who did.
 */
export interface LocationDesk {
  readonly subscribe: (listener: () => void) => () => void;
  phase(call: Call): LocationPhase;
  error(callId: string): unknown;
  share(call: Call): Promise<void>;
  place(call: Call, place: string): Promise<void>;
  decline(call: Call): Promise<void>;
}

interface Held {
  claimId?: string;
  phase?: Extract<LocationPhase, { type: "locating" | "asking" }>;
  error?: unknown;
}

const RENEW_MS = 2_000;

export function createLocationDesk(session: Session, me: string): LocationDesk {
  const held = new Map<string, Held>();
  const listeners = new Set<() => void>();

  function note(callId: string, change: Held): void {
    held.set(callId, { ...held.get(callId), ...change });
    for (const listener of listeners) listener();
  }

  /** Claims the call for this page, once, and keeps the claim while the call is open. */
  async function claim(call: Call): Promise<string> {
    const known = heldClaim(call.id);
    if (known !== undefined && session.state.calls.get(call.id)?.claim?.id === known) return known;
    const { claimId } = await session.claim(call.id, { ...(call.manual && { force: true }) });
    sessionStorage.setItem(keyOf(call.id), claimId);
    note(call.id, { claimId });
    void renew(call.id, claimId);
    return claimId;
  }

  function heldClaim(callId: string): string | undefined {
    return held.get(callId)?.claimId ?? sessionStorage.getItem(keyOf(callId)) ?? undefined;
  }

  async function renew(callId: string, claimId: string): Promise<void> {
    try {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, RENEW_MS));
        if (session.status.type === "closed") return;
        if (session.state.calls.get(callId)?.status === "settled") return;
        await session.renew(callId, claimId);
      }
    } catch {
      // The claim is over: the call's row says whose it is now, and the panel shows that.
    }
  }

  async function attempt(call: Call, act: () => Promise<unknown>): Promise<void> {
    note(call.id, { error: undefined });
    try {
      await act();
    } catch (error) {
      note(call.id, { error });
    }
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    phase(call) {
      const mine = held.get(call.id);
      if (!call.claim) return mine?.phase ?? offered(call);
      const claimId = heldClaim(call.id);
      if (call.claim.id !== claimId) {
        const who = call.claim.by === me ? "you, in another tab," : nameOf(call.claim.by);
        return { type: "elsewhere", who };
      }
      return mine?.phase ?? { type: "asking", why: "This page was reloaded before it answered." };
    },
    error: (callId) => held.get(callId)?.error,
    share: (call) =>
      attempt(call, async () => {
        const claimId = await claim(call);
        note(call.id, { phase: { type: "locating" } });
        const found = await whereAmI();
        if (found.type === "unknown") note(call.id, { phase: { type: "asking", why: found.why } });
        else await session.answer(call.id, found.place, { claimId });
      }),
    place: (call, place) =>
      attempt(call, async () => {
        const answer: Json = { place, source: "typed by a person" };
        await session.answer(call.id, answer, { claimId: await claim(call) });
      }),
    decline: (call) =>
      attempt(call, async () => {
        const claimId = await claim(call);
        await session.decline(call.id, "The person would rather not say where they are.", {
          claimId,
        });
      }),
  };
}

function offered(call: Call): LocationPhase {
  return { type: "offered", again: call.pastClaims !== undefined };
}

function keyOf(callId: string): string {
  return `holdfast.claim.${callId}`;
}
