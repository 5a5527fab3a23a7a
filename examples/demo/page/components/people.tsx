import { initialsOf, list, nameOf } from "../format.ts";

const SHOWN = 4;

/** People seen in this session's log. Not presence: it says who took part, not who looks now. */
export function People({ principals, me }: { principals: readonly string[]; me: string }) {
  const names = principals.map((it) => (it === me ? `${nameOf(it)} (you)` : nameOf(it)));
  const words = `Took part: ${list(names)}. Who only looks is not known.`;
  return (
    <span className="people" role="img" aria-label={words} title={words}>
      {principals.slice(0, SHOWN).map((principal) => (
        <span key={principal} className="initials" data-me={principal === me}>
          {initialsOf(nameOf(principal))}
        </span>
      ))}
      {principals.length > SHOWN && (
        <span className="initials more">+{principals.length - SHOWN}</span>
      )}
    </span>
  );
}
