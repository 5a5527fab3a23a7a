import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

/** How a growing list is scrolled: it follows its end only while its reader is there. */
export interface StickToBottom {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** How many came since the reader left the end. */
  readonly unseen: number;
  readonly toEnd: () => void;
}

const SLACK = 48;

export function useStickToBottom(total: number): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const latest = useRef(total);
  /** What there was when the reader left the end; undefined while they are there. */
  const [leftAt, setLeftAt] = useState<number>();

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
      setLeftAt((known) => (atEnd ? undefined : (known ?? latest.current)));
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
    latest.current = total;
  }, [total]);

  const unseen = leftAt === undefined ? 0 : Math.max(0, total - leftAt);
  return { scroller, content, unseen, toEnd };
}
