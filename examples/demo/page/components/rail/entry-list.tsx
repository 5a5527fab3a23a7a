import type { Entry } from "@holdfast/protocol";
import { memo } from "react";
import { entryGist } from "../../entry-words.ts";
import { exact, nameOf, shortOffset } from "../../format.ts";

/** The newest entries of the log, newest first, each with its offset. */
export function EntryList({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <ol className="entries">
      {entries.toReversed().map((entry) => (
        <EntryRow key={entry.offset} entry={entry} />
      ))}
    </ol>
  );
}

const EntryRow = memo(function EntryRow({ entry }: { readonly entry: Entry }) {
  const gist = entryGist(entry);
  return (
    <li className="entry" title={`${entry.offset}\n${exact(entry.at)}\n${entry.actor}`}>
      <span className="entry-offset number">{shortOffset(entry.offset)}</span>
      <span className="entry-what">
        <span className="entry-type">{entry.event.type}</span>{" "}
        {gist !== "" && <span className="entry-gist">{gist}</span>}
      </span>
      <span className="entry-actor">{nameOf(entry.actor)}</span>
    </li>
  );
});
