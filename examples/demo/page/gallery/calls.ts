import type { Call } from "@holdfast/protocol";
import { ana, approval, ben, call, ended, location, now, transfer } from "./fixtures.ts";

const hostile = "<img src=x onerror=\"document.title='taken over'\"><script>alert(1)</script>";

/** Every state of a call, each under the name that its picture needs. */
export const calls: readonly (readonly [string, Call])[] = [
  ["Arguments stream, closed card", call({ status: "streaming", arguments: '{"city":"Os' })],
  [
    "Arguments stream, a gated tool",
    transfer({
      status: "streaming",
      arguments:
        '{"from":"Everyday account","to":"Ben Ortiz","amount":50,"currency":"EUR","reference":"Lunch on Tues',
    }),
  ],
  ["Running", call({ status: "claimed" }, [["claimed", "agent:demo", 4]])],
  [
    "Waiting for approval",
    transfer({ status: "gated" }, [["approval_requested", "agent:demo", 60]]),
  ],
  [
    "Approved elsewhere, about to run",
    transfer(
      {
        status: "open",
        approval: {
          ...approval,
          decision: { approved: true, by: ana, at: now - 3_000, digest: "" },
        },
      },
      [["approved", ana, 3]],
    ),
  ],
  [
    "Approved automatically",
    transfer(
      {
        status: "open",
        approval: {
          ...approval,
          decision: {
            approved: true,
            by: "server",
            at: now - 3_000,
            digest: "",
            automatic: true,
            onBehalfOf: ben,
          },
        },
      },
      [["approved", "server", 3]],
    ),
  ],
  ["Waiting for a device", location({ status: "open" }, [["opened", "agent:demo", 8]])],
  [
    "Claimed by another device",
    location({ status: "claimed", claim: { id: "claim_1", by: ben, at: now - 5_000 } }, [
      ["claimed", ben, 5],
    ]),
  ],
  [
    "Claim expired, left to a person",
    location({ status: "open", manual: true }, [["released", ben, 40]]),
  ],
  [
    "Done",
    call(
      ended("ok", {
        answer: {
          messageId: "r1",
          offset: "gallery.2",
          by: "agent:demo",
          at: now - 20_000,
          answer: {
            type: "json",
            value: {
              place: "Oslo",
              temperatureC: 7,
              sky: "light rain",
              wind: { kmh: 18, from: "SW", gusts: [22, 31] },
            },
          },
        },
      }),
      [
        ["claimed", "agent:demo", 62],
        ["settled", "agent:demo", 60.8],
      ],
    ),
  ],
  [
    "Done, approved with changes",
    transfer(
      ended("ok", {
        arguments: '{"to":"Ben Ortiz","amount":45,"currency":"EUR","reference":"Lunch"}',
        approval: {
          ...approval,
          decision: {
            approved: true,
            by: ben,
            at: now - 30_000,
            digest: "",
            edited: { from: '{"to":"Ben Ortiz","amount":50,"currency":"EUR","reference":"Lunch"}' },
          },
        },
        answer: {
          messageId: "r2",
          offset: "gallery.2",
          by: "agent:demo",
          at: now - 20_000,
          answer: { type: "text", text: "Sent. Receipt HF-20931." },
        },
      }),
      [
        ["approval_requested", "agent:demo", 60],
        ["approved", ben, 30],
        ["claimed", "agent:demo", 29.5],
        ["settled", "agent:demo", 28],
      ],
    ),
  ],
  [
    "Done, with hostile and long text",
    call(
      ended("ok", {
        arguments: JSON.stringify({ city: hostile, note: "A very long value. ".repeat(40) }),
        answer: {
          messageId: "r3",
          offset: "gallery.2",
          by: "agent:demo",
          at: now,
          answer: { type: "text", text: `${hostile}\n${"unbroken".repeat(60)}` },
        },
      }),
      [["claimed", "agent:demo", 62]],
    ),
  ],
  [
    "Failed",
    call(
      ended("error", {
        answer: {
          messageId: "r4",
          offset: "gallery.2",
          by: "agent:demo",
          at: now,
          answer: { type: "text", text: "No place called Osslo is known. Did you mean Oslo?" },
        },
      }),
      [["claimed", "agent:demo", 21]],
    ),
  ],
  [
    "Failed: arguments do not fit",
    transfer(
      ended("error", {
        reason: "invalid_arguments",
        arguments: '{"to":"Ben","amount":"fifty","currency":"EUR"}',
        invalid: { message: "/amount must be number.", paths: ["/amount"] },
      }),
    ),
  ],
  ["Failed: executor lost", transfer(ended("error", { reason: "executor_lost" }))],
  [
    "Denied, with a reason",
    transfer(
      ended("denied", {
        approval: {
          ...approval,
          decision: {
            approved: false,
            by: ben,
            at: now - 20_000,
            digest: "",
            reason: "Ben owes me 20 already. Send 30.",
          },
        },
      }),
      [["denied", ben, 20]],
    ),
  ],
  [
    "Declined",
    location(
      ended("error", {
        reason: "declined",
        settledBy: ana,
        answer: {
          messageId: "r5",
          offset: "gallery.2",
          by: ana,
          at: now,
          answer: { type: "text", text: "" },
        },
      }),
    ),
  ],
  ["Cancelled", transfer(ended("cancelled", { reason: "run_cancelled" }))],
  ["Expired", transfer(ended("expired", { reason: "approval_expired", settledBy: "server" }))],
  ["Abandoned", transfer(ended("abandoned", { reason: "superseded_by_new_message" }))],
];
