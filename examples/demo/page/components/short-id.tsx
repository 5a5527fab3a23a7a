import { useState } from "react";
import { shortId } from "../format.ts";

/** An id, shortened in the middle; a press copies the whole of it. */
export function ShortId({ id, length = 14 }: { readonly id: string; readonly length?: number }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(id);
    setCopied(true);
  };
  return (
    <button
      type="button"
      className="id mono"
      title={`${id} (press to copy)`}
      aria-label={`Copy ${id}`}
      onClick={() => void copy().catch(() => setCopied(false))}
      onBlur={() => setCopied(false)}
    >
      {copied ? "copied" : shortId(id, length)}
    </button>
  );
}
