import type { BaseEvent } from "@ag-ui/core";
import { AGUI_MEDIA_TYPE, EventEncoder } from "@ag-ui/encoder";
import type { Visibility } from "../../engine/index.ts";
import { cursorText } from "./cursor.ts";
import type { Outgoing } from "./feed.ts";

/** How events are written on a response. */
export interface Encoding {
  readonly type: string;
  readonly encode: (events: readonly Outgoing[]) => Uint8Array;
  /** What says that the stream lives, where the format has room for that. */
  readonly alive?: Uint8Array;
  /** Words for whoever looks at the stream, of which no client takes note, where the format has room for them. */
  readonly comment?: (words: string) => Uint8Array;
}

/**
 * Server-sent events, one event to a frame; protobuf for whoever names its type. A wildcard is no such word: it is what
 * those send who do not know.
 */
export function encodingFor(accept: string | undefined, visibility: Visibility): Encoding {
  return namesProtobuf(accept) ? protobuf() : serverSentEvents(visibility);
}

function serverSentEvents(visibility: Visibility): Encoding {
  return {
    type: "text/event-stream",
    alive: text.encode(": alive\n\n"),
    // As JSON it has no line breaks.
    comment: (words) => text.encode(`: ${JSON.stringify(words)}\n\n`),
    encode: (events) => text.encode(events.map((it) => frameOf(it, visibility)).join("")),
  };
}

function frameOf({ event, cursor }: Outgoing, visibility: Visibility): string {
  const id = cursor ? `id: ${cursorText(cursor, visibility)}\n` : "";
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}

function protobuf(): Encoding {
  const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });
  return {
    type: AGUI_MEDIA_TYPE,
    // Its enumeration of types has the strings of ours.
    encode: (events) =>
      Buffer.concat(events.map(({ event }) => encoder.encodeBinary(event as BaseEvent))),
  };
}

function namesProtobuf(accept = ""): boolean {
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === AGUI_MEDIA_TYPE && !parameters.some((it) => /^q=0(\.0*)?$/.test(it));
  });
}

const text = new TextEncoder();
