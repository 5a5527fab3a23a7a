import { useState } from "react";

const LIMIT = 280;

/** Text as text; cut where it is long, the rest one press away. */
export function LongText({ text, limit = LIMIT }: { text: string; limit?: number }) {
  const [all, setAll] = useState(false);
  if (text.length <= limit + 40) return <>{text}</>;
  return (
    <>
      {all ? text : `${text.slice(0, limit)}…`}{" "}
      <button type="button" className="link-button" onClick={() => setAll(!all)}>
        {all ? "show less" : `show all ${text.length.toLocaleString("en")} characters`}
      </button>
    </>
  );
}
