import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

/** How a growing list is scrolled: it follows its end only while its reader is there. */
export interface StickToBottom {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** How many came since the reader left the end. */
  readonly unseen: number;
  toEnd(): void;
}

const SLACK = 48;

export function useStickToBottom(total: number): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const seen = useRef(total);
  const [away, setAway] = useState(false);

  const toEnd = useCallback(() => {
    const node = scroller.current;
    if (!node) return;
    stuck.current = true;
    node.scrollTop = node.scrollHeight;
  }, []);

  useEffect(() => {
    const node = scroller.current;
    const inner = content.current;
    if (!node || !inner) return;
    const look = () => {
      const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < SLACK;
      stuck.current = atEnd;
      setAway(!atEnd);
    };
    const follow = new ResizeObserver(() => {
      if (stuck.current) node.scrollTop = node.scrollHeight;
    });
    node.addEventListener("scroll", look, { passive: true });
    follow.observe(inner);
    follow.observe(node);
    return () => {
      node.removeEventListener("scroll", look);
      follow.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    if (!away) seen.current = total;
  }, [away, total]);

  return { scroller, content, unseen: away ? Math.max(0, total - seen.current) : 0, toEnd };
}
