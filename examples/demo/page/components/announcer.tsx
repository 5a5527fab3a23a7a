import type { Call } from "@holdfast/protocol";
import { useEffect, useRef, useState } from "react";
import { faceOf } from "../call-face.ts";

/** Says each call's new state politely, for those who do not see it. What was there at first is not announced. */
export function Announcer({ calls }: { readonly calls: readonly Call[] }) {
  const known = useRef<Map<string, string>>(undefined);
  const [words, setWords] = useState("");
  useEffect(() => {
    const before = known.current;
    const now = new Map(calls.map((call) => [call.id, faceOf(call).word]));
    known.current = now;
    if (!before) return;
    const news = calls
      .filter((call) => call.status !== "streaming" && call.status !== "ended")
      .filter((call) => before.get(call.id) !== now.get(call.id))
      .map((call) => `${call.name}: ${now.get(call.id) ?? ""}.`);
    if (news.length > 0) setWords(news.join(" "));
  }, [calls]);
  return (
    <p className="visually-hidden" aria-live="polite">
      {words}
    </p>
  );
}
