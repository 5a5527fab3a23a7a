import { reduce, type Entry, type SessionState } from "@holdfast/protocol";
import {
  unknownFields,
  type AgUiFaceEvent,
  type Cursor,
  type Projection,
} from "@holdfast/protocol/ag-ui";
import type { FrameText } from "../../engine/index.ts";
import { entriesOf } from "./in-common.ts";

/** An event as it is sent; without a cursor where nobody can go on behind it. */
export interface Outgoing {
  readonly event: AgUiFaceEvent;
  readonly cursor?: Cursor;
}

/** What a response tells of a session, and until when. */
export interface Story {
  /** Told first. Its last event has the cursor of the state it was made of. */
  readonly prelude: readonly Outgoing[];
  readonly projection: Projection;
  /**
   * Called after each entry, and before the first, with what the entry is to the reader.
   *
   * @returns what is told of it, and whether that is all
   */
  readonly tell: (state: SessionState, events: readonly Outgoing[], at: Moment) => Told;
}

/** Where in the log a story is. */
export interface Moment {
  /** The entry it was just told; none before the first. */
  readonly entry?: Entry;
  /** The entry is the last of its commit: within one, a state may be what it never was to anybody. */
  readonly isWhole: boolean;
}

export interface Told {
  readonly events: readonly Outgoing[];
  readonly isOver: boolean;
  /** What the entries said beside, and AG-UI does not know: in words, each once in a feed. */
  readonly leftOut?: readonly string[];
}

/** How much a feed says of what it leaves out. */
const MOST_LEFT_OUT = 20;

/** Tells a story from a state on, with each commit as it comes. */
export interface Feed {
  /** What there is to tell before the first frame. */
  begin(): Told;
  /** @returns what is told of a frame; nothing more once the story is over */
  take(frame: FrameText): Told;
}

/** @param state becomes the feed's own */
export function createFeed(state: SessionState, story: Story): Feed {
  const { projection } = story;
  const known = new Set<string>();

  /** What is said for the first time of what is left out of an event. */
  function leftOutOf({ event }: Entry): string[] {
    return unknownFields(event).flatMap((name) => {
      const words = `${event.type}/${name.slice(0, 100)}`;
      if (known.has(words) || known.size >= MOST_LEFT_OUT) return [];
      known.add(words);
      return [words];
    });
  }

  return {
    begin: () => story.tell(state, story.prelude, { isWhole: true }),
    take(frame) {
      const entries = entriesOf(frame);
      const events: Outgoing[] = [];
      const leftOut: string[] = [];
      for (const entry of entries) {
        if (entry.offset <= state.head) continue;
        leftOut.push(...leftOutOf(entry));
        reduce(state, entry);
        const { offset } = entry;
        const projected = projection
          .project(entry, state)
          .map((event, index) => ({ event, cursor: { offset, index } }));
        const isWhole = entry === entries.at(-1);
        const told = story.tell(state, projected, { entry, isWhole });
        events.push(...told.events);
        if (told.isOver) return { events, isOver: true, leftOut };
      }
      return { events, isOver: false, leftOut };
    },
  };
}
