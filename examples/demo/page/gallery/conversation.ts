import type { Call, Entry, Item, MessageNode, Run } from "@holdfast/protocol";
import { ana, ben, call, ended, location, message, now, run, text, transfer } from "./fixtures.ts";

export type GalleryNode =
  | { readonly type: "message"; readonly id: string; readonly message: MessageNode }
  | {
      readonly type: "run";
      readonly id: string;
      readonly run: Run;
      readonly parts: readonly (Item | Call)[];
    };

function say(of: MessageNode): GalleryNode {
  return { type: "message", id: of.id, message: of };
}

function answer(of: Run, ...parts: readonly (Item | Call)[]): GalleryNode {
  return { type: "run", id: of.id, run: of, parts };
}

const done = call(
  ended("ok", {
    arguments: '{"city":"Oslo"}',
    answer: {
      messageId: "r",
      offset: "gallery.2",
      by: "agent:demo",
      at: now,
      answer: { type: "json", value: { place: "Oslo", temperatureC: 7, sky: "light rain" } },
    },
  }),
  [
    ["claimed", "agent:demo", 62],
    ["settled", "agent:demo", 60.8],
  ],
);
const gated = transfer({ status: "gated" }, [["approval_requested", "agent:demo", 60]]);
const open = location({ status: "open" }, [["opened", "agent:demo", 8]]);
const suspended = run({ status: "suspended", openRounds: [] });

/** A conversation in the middle of everything. */
export const nodes: readonly GalleryNode[] = [
  say(message("What is the weather in Oslo?", ana, 240)),
  answer(
    run({ status: "ended", outcome: "complete", openRounds: [] }),
    text("I will look that up."),
    done,
    text(
      "It is **7 °C** in Oslo, with light rain and a fresh wind from the south-west.\n\nMore at https://www.yr.no/en and `<img src=x onerror=alert(1)>` stays text.",
    ),
  ),
  say(message("Send 50 EUR to Ben for lunch", ben, 70)),
  answer(suspended, text("That needs somebody's approval first."), gated),
];

export const streaming: readonly GalleryNode[] = [
  say(message("Tell me a long story", ana, 20)),
  answer(
    run(),
    text(
      "Once there was a rope that held a ferry to its pier. Every night the tide pulled, and every night the rope",
      "open",
    ),
  ),
];

const [read, waits, missed] = ["In Bergen, please", "And in Celsius", "Never mind"].map((words) =>
  message(words, ben, 12),
);

/** A run that read one message, is to read another, and one that nobody read. */
export const steered: readonly GalleryNode[] =
  read && waits && missed
    ? [
        say(message("What is the weather?", ana, 30)),
        answer(
          run({
            steers: [
              { messageId: read.id, offset: read.offset, consumed: true },
              { messageId: waits.id, offset: waits.offset },
              { messageId: missed.id, offset: missed.offset, consumed: false },
            ],
          }),
          text("Looking at the map."),
          {
            kind: "steer",
            id: `steer:${read.id}`,
            runId: "run_1",
            offset: read.offset,
            message: read,
          },
          text("Bergen it is."),
        ),
        say(waits),
        say(missed),
      ]
    : [];

export const ends: readonly GalleryNode[] = [
  say(message("Tell me a long story", ana, 200)),
  answer(
    run({ status: "ended", outcome: "cancelled", openRounds: [] }),
    text("Once there was a rope that held"),
  ),
  say(message("And now?", ana, 100)),
  answer(
    run({
      status: "ended",
      outcome: "error",
      error: {
        code: "agent_lost",
        message: "Four agents in a row went away while they worked on this.",
      },
    }),
  ),
  say(message("Once more", ana, 50)),
  answer(run({ losses: 1, attempt: 2 })),
  say(message("And this?", ana, 40)),
  answer(run({ status: "queued", attempt: 0, queuedAt: now - 30_000 })),
];

const kinds: readonly [Entry["event"], string][] = [
  [
    {
      type: "message.added",
      messageId: "m",
      role: "user",
      content: "Send 50 EUR to Ben for lunch",
    },
    ben,
  ],
  [{ type: "run.added", agent: "demo" }, ben],
  [{ type: "run.queued", reason: "added", wakeId: "w" }, ben],
  [{ type: "attempt.started", worker: "demo-1", wakeId: "w", claims: true }, "agent:demo"],
  [{ type: "round.opened", round: 1 }, "agent:demo"],
  [{ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" }, "agent:demo"],
  [{ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "That needs somebody's " }, "agent:demo"],
  [{ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "approval first." }, "agent:demo"],
  [{ type: "TEXT_MESSAGE_END", messageId: "t" }, "agent:demo"],
  [{ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "transfer" }, "agent:demo"],
  [
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"to":"Ben Ortiz","amount":50' },
    "agent:demo",
  ],
  [{ type: "TOOL_CALL_END", toolCallId: "c" }, "agent:demo"],
  [
    { type: "call.approval_requested", callId: "c", approvalId: "a", by: "agent", digest: "9f2c" },
    "agent:demo",
  ],
  [{ type: "round.closed", round: 1 }, "agent:demo"],
  [{ type: "call.gated", callId: "c" }, "agent:demo"],
  [{ type: "attempt.finished" }, "agent:demo"],
  [{ type: "run.suspended" }, "agent:demo"],
];

export const facts = {
  head: "gallery.00000000058",
  runs: [{ of: suspended, forWhom: "a person to decide", since: now - 60_000 }],
  calls: [
    { of: gated, forWhom: "a person to decide", since: now - 60_000 },
    { of: open, forWhom: "a device that runs it", since: now - 8_000 },
  ],
  grants: [{ tool: "transfer", by: ana, at: now - 40_000 }],
  entries: kinds.map(([event, actor], at): Entry => ({
    offset: `gallery.${String(42 + at).padStart(11, "0")}`,
    at: now - 60_000 + at,
    actor,
    event,
  })),
};
