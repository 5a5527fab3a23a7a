import type { Call } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { faceOf } from "../page/call-face.ts";
import { ana, call, ended, location, now, transfer } from "../page/gallery/fixtures.ts";

const claim = { id: "claim_1", by: ana, at: now };
const faces: readonly (readonly [Call, string, string])[] = [
  [call({ status: "streaming" }), "running", "writing arguments"],
  [call({ status: "ended" }), "running", "about to run"],
  [transfer({ status: "gated" }), "waiting", "waiting for approval"],
  [call({ status: "open" }), "running", "about to run"],
  [location({ status: "open" }), "waiting", "waiting for a device"],
  [location({ status: "open", manual: true }), "waiting", "waiting for a person"],
  [call({ status: "claimed", claim }), "running", "running"],
  [location({ status: "claimed", claim }), "running", "on Ana Lind's device"],
  [call(ended("ok")), "done", "done"],
  [call(ended("error")), "failed", "failed"],
  [call(ended("error", { reason: "executor_lost" })), "failed", "failed"],
  [call(ended("error", { reason: "declined" })), "denied", "declined"],
  [call(ended("denied")), "denied", "denied"],
  [call(ended("cancelled")), "gone", "cancelled"],
  [call(ended("expired")), "gone", "expired"],
  [call(ended("abandoned")), "gone", "abandoned"],
  [call(ended("superseded")), "gone", "superseded"],
];

test.each(faces.map(([it, tone, word]) => [word, tone, it] as const))(
  "a call that is %s is shown as %s",
  (word, tone, it) => {
    expect(faceOf(it)).toMatchObject({ tone, word });
  },
);
