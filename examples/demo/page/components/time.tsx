import { ago, clock, exact } from "../format.ts";
import { useNow } from "../hooks/use-now.ts";

/** A moment: relative, exact on hover. */
export function Ago({ at }: { readonly at: number }) {
  const now = useNow(10_000);
  return <Moment at={at} words={ago(at, now)} />;
}

/** A moment of the day: hours and minutes, exact on hover. */
export function Clock({ at }: { readonly at: number }) {
  const now = useNow(3_600_000);
  return <Moment at={at} words={clock(at, now)} />;
}

function Moment({ at, words }: { readonly at: number; readonly words: string }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {words}
    </time>
  );
}
