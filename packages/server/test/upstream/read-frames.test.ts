import fc from "fast-check";
import { expect, it } from "vitest";
import { readFrames } from "../../src/upstream/read-frames.ts";

/** A body that comes in these pieces. */
function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function eventsOf(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const frames of readFrames(bodyOf(pieces), () => {})) {
    events.push(...frames.map(({ event }) => event));
  }
  return events;
}

/** One frame, in any of the spellings that the format allows. */
function frame(event: unknown, spelling: number, line: string): string {
  const data = JSON.stringify(event);
  const spelled = [
    `data: ${data}`,
    `data:${data}`,
    `: kept alive${line}data: ${data}`,
    `id: 7${line}event: message${line}data: ${data}`,
    // Over two lines, where JSON has room for that.
    `data: ${data.slice(0, 1)}${line}data: ${data.slice(1)}`,
  ];
  return `${spelled[spelling % spelled.length]}${line}${line}`;
}

it("12.5 events are read alike however their bytes are cut, and whichever way their lines end", async () => {
  const event = fc.record({ type: fc.constant("CUSTOM"), value: fc.string({ unit: "grapheme" }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(event, fc.nat(9)), { minLength: 1, maxLength: 6 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat(400)),
      fc.boolean(),
      async (events, line, cuts, isClosed) => {
        const text = events.map(([it, spelling]) => frame(it, spelling, line)).join("");
        // The last frame counts, though no empty line may follow it.
        const bytes = Buffer.from(isClosed ? text : text.slice(0, -line.length));
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
        expect(await eventsOf(pieces)).toEqual(events.map(([it]) => it));
      },
    ),
  );
});

it("12.5 what is cut off at the end is no event, and no other failure than that it is not there", async () => {
  const whole = 'data: {"type":"CUSTOM"}\n\n';
  for (const half of ["data: {", 'data: {"type":"CU', "da", ": ", "data:"]) {
    expect(await eventsOf([Buffer.from(whole + half)])).toEqual([{ type: "CUSTOM" }]);
  }
});

it.each([
  ["is no JSON", "data: {oops\n\n", /Frame 2 of its stream is no JSON/],
  ["is too long", `data: "${"x".repeat(10 * 1024 * 1024)}"\n\n`, /more than 10485760 characters/],
])(
  "12.5.1 what came before a frame that %s stands, in the same piece too",
  async (_, bad, words) => {
    const good = 'data: {"type":"CUSTOM"}\n\n';
    const events: unknown[] = [];
    const reading = async () => {
      const body = bodyOf([Buffer.from(good + good + bad + good), Buffer.from(good)]);
      for await (const frames of readFrames(body, () => {})) {
        events.push(...frames.map(({ event }) => event));
      }
    };
    await expect(reading()).rejects.toThrow(words);
    expect(events).toEqual([{ type: "CUSTOM" }, { type: "CUSTOM" }]);
  },
);
