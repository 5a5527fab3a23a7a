import { HoldfastError, toSessionId, type Call, type SessionState } from "@holdfast/protocol";
import { linkedController } from "../wire/index.ts";
import { command, type Attempt } from "./attempt.ts";
import type { Live } from "./live.ts";

/** What became of the wish to execute a call. */
export type Claimed =
  /** This attempt executes it, and nobody else does. */
  | {
      readonly type: "granted";
      /** The session's id for the call. */
      readonly callId: string;
      readonly claimId: string;
      /** Aborted when the call was cancelled, the claim was lost, or the attempt is over. */
      readonly signal: AbortSignal;
    }
  /** It ended already; there is nothing to execute. */
  | { readonly type: "settled"; readonly call: Call };

/** The calls that an attempt executes. Held claims are renewed until their call is settled or the attempt is over. */
export interface Claims {
  /**
   * Asks for the right to execute a call.
   *
   * @throws {HoldfastError} the refusal: `claim_held`, `approval_required`, …; the attempt's reason when it is over
   */
  claim(callId: string): Promise<Claimed>;
  /** The claim under which this attempt executes the call, if it does: this process, or another of the attempt's. */
  readonly claimOf: (callId: string) => string | undefined;
  /** The call was refused to this attempt: what its framework makes of that is no answer to it. */
  isRefused(callId: string): boolean;
  /** To be called with every new state: notices calls that ended under this attempt's hands. */
  readonly observe: (state: SessionState) => void;
}

export function createClaims(attempt: Attempt, live: () => Live, renewMs: number): Claims {
  const held = new Map<string, string>();
  const running = new Map<string, (reason: HoldfastError) => void>();
  const refused = new Set<string>();

  /** The newest call that this run means by an id. */
  function find(state: SessionState, callId: string): Call | undefined {
    return state.calls.get(toSessionId(state, attempt.work.runId, callId));
  }

  function grant(callId: string, claimId: string): Claimed {
    const { controller, unlink } = linkedController(attempt.signal);
    const stop = (reason: HoldfastError) => {
      running.delete(callId);
      unlink();
      controller.abort(reason);
    };
    running.set(callId, stop);
    // Ends with the call or the attempt. A server that is away that long ends the claim itself; the answer tells.
    void renew(callId, claimId, controller.signal).catch(() => {});
    return { type: "granted", callId, claimId, signal: controller.signal };
  }

  async function renew(callId: string, claimId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      await attempt.transport.timing.sleep(renewMs, signal);
      const { error } = await command(attempt, { type: "call.renew", callId, claimId });
      if (error) running.get(callId)?.(new HoldfastError(error));
    }
  }

  return {
    async claim(callId) {
      const verdict = await command(attempt, { type: "call.claim", callId });
      const { error, claimId, offset } = verdict;
      if (!error) {
        if (claimId === undefined)
          throw new HoldfastError({ code: "internal", message: `No claim came for ${callId}.` });
        refused.delete(callId);
        held.set(callId, claimId);
        // The verdict names the session's id: whoever executes need not wait for the log to come by.
        return grant(verdict.callId ?? callId, claimId);
      }
      refused.add(callId);
      held.delete(callId);
      if (error.code === "call_settled") {
        await live().until(offset);
        const call = find(live().state, callId);
        if (call?.status === "settled") return { type: "settled", call };
      }
      throw new HoldfastError(error);
    },
    claimOf(callId) {
      const own = held.get(callId);
      if (own !== undefined) return own;
      const claim = find(live().state, callId)?.claim;
      return claim && !claim.implicit && claim.attempt === attempt.work.attempt
        ? claim.id
        : undefined;
    },
    isRefused: (callId) => refused.has(callId),
    observe(state) {
      for (const [callId, stop] of running) {
        const call = state.calls.get(callId);
        if (call?.status === "settled") stop(settledElsewhere(call));
      }
    },
  };
}

function settledElsewhere(call: Call): HoldfastError {
  return new HoldfastError({
    code: "call_settled",
    message: `Call ${call.id} ended ${call.outcome ?? "already"}${call.reason ? ` (${call.reason})` : ""}: stop executing it.`,
    details: { outcome: call.outcome, reason: call.reason },
  });
}
