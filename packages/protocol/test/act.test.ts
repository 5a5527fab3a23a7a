import { createHash } from "node:crypto";
import { actOf, erase, payloadDigest, type Entry, type Event } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

function entryOf(event: Event): Entry {
  return { offset: "e.1", at: 1, actor: "user:ana", runId: "r1", event, salt: "s" };
}

const ANSWER: Event = {
  type: "call.answered",
  callId: "c1",
  messageId: "m1",
  outcome: "ok",
  answer: { type: "text", text: "yes" },
};

const SECRET = "what was written";

describe("6.13", () => {
  it("6.13 an act is who did what to what, without what they wrote", () => {
    expect(actOf(entryOf(ANSWER))).toEqual({
      what: "call.answered",
      ids: { runId: "r1", callId: "c1", messageId: "m1" },
      facts: { outcome: "ok" },
    });
    expect(
      actOf(
        entryOf({
          type: "call.decided",
          callId: "c1",
          approvalId: "a1",
          approved: false,
          digest: "d",
          reason: "a secret",
        }),
      ),
    ).toEqual({
      what: "call.decided",
      ids: { runId: "r1", callId: "c1", approvalId: "a1" },
      facts: { approved: false },
    });
  });

  it.each<Event>([
    { type: "session.created", agent: "demo" },
    { type: "session.updated", metadata: {} },
    { type: "session.closed", reason: SECRET },
    { type: "content.erased", messageId: "m", reason: SECRET },
    { type: "message.added", messageId: "m", role: "user", content: SECRET },
    { type: "policy.set", policy: {} as never },
    { type: "tools.advertised", tools: [{ name: SECRET }] as never },
    { type: "approval.granted", tool: "t", callId: "c" },
    { type: "approval.revoked", tool: "t" },
    { type: "call.decided", callId: "c", approvalId: "a", approved: true, digest: SECRET },
    ANSWER,
    { ...ANSWER, type: "call.answer_replaced" } as Event,
    { type: "call.claimed", callId: "c", claimId: "k" },
    { type: "call.released", callId: "c", claimId: "k", reason: "released", status: "open" },
    {
      type: "call.settled",
      callId: "c",
      outcome: "cancelled",
      reason: "cancelled",
      message: SECRET,
    },
    { type: "run.ended", outcome: "cancelled", reason: SECRET },
  ])(
    "6.13 what people and clients do is an act, and says no more than what was done: %j",
    (event) => {
      const act = actOf(entryOf(event));
      // Of an erasure, a run's id says that all of the run was erased.
      const ids = event.type === "content.erased" ? { messageId: "m" } : { runId: "r1" };
      expect(act).toMatchObject({ what: event.type, ids });
      expect(JSON.stringify(act)).not.toContain(SECRET);
    },
  );

  it.each<Event>([
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" },
    { type: "run.queued", reason: "added" },
    { type: "run.ended", outcome: "complete" },
    { type: "call.claimed", callId: "c", claimId: "k", implicit: true },
    { type: "call.released", callId: "c", claimId: "k", reason: "expired", status: "open" },
    { type: "call.settled", callId: "c", outcome: "expired", reason: "deadline" },
  ])("6.13 what the server does by itself, and content, is no act: %j", (event) => {
    expect(actOf(entryOf(event))).toBeUndefined();
  });
});

describe("6.14", () => {
  it("6.14 the same content has another digest under another salt", () => {
    const entry = entryOf(ANSWER);
    expect(payloadDigest(entry, digest)).not.toBe(payloadDigest({ ...entry, salt: "t" }, digest));
    expect(payloadDigest(entry, digest)).toBe(
      payloadDigest(JSON.parse(JSON.stringify(entry)) as Entry, digest),
    );
  });

  it("6.14 an erased entry says the same act with the same digest, and has no salt", () => {
    const entry = entryOf(ANSWER);
    const erased = erase(entry, { ...ANSWER, answer: { type: "text", text: "" } }, digest);
    expect(actOf(erased)).toEqual(actOf(entry));
    expect(payloadDigest(erased, digest)).toBe(payloadDigest(entry, digest));
    expect(erased).not.toHaveProperty("salt");
    expect(erase(erased, erased.event, digest)).toEqual(erased);
  });
});
