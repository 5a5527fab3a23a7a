import type { Call, Item, MessageNode, Run } from "@holdfast/protocol";
import { useEffect, useMemo, type ReactNode } from "react";
import { steerNotes } from "../facts.ts";
import { useStickToBottom } from "../hooks/use-stick-to-bottom.ts";
import { Icon } from "./icons.tsx";
import { PersonMessage } from "./person-message.tsx";
import { RunBlock } from "./run-block.tsx";

/** One node of the path that is shown. */
export type ConversationNode =
  | { readonly type: "message"; readonly id: string; readonly message: MessageNode }
  | {
      readonly type: "run";
      readonly id: string;
      readonly run: Run;
      readonly parts: readonly (Item | Call)[];
    };

interface ConversationProps {
  readonly nodes: readonly ConversationNode[];
  /** How often the reader has sent something; whoever sends wants to see what comes of it. */
  readonly sent: number;
  /** Shown while there are none. */
  readonly empty: ReactNode;
}

/** The conversation, newest at the bottom. Follows its end only while the reader is there. */
export function Conversation({ nodes, sent, empty }: ConversationProps) {
  const notes = useMemo(() => steerNotes(nodes), [nodes]);
  const total = nodes.reduce((sum, node) => sum + (node.type === "run" ? shown(node.parts) : 1), 0);
  const { scroller, content, unseen, toEnd } = useStickToBottom(total);
  useEffect(() => {
    if (sent > 0) toEnd();
  }, [sent, toEnd]);
  return (
    <div className="conversation">
      <div
        className="conversation-scroller"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Conversation"
      >
        <div className="conversation-content" ref={content}>
          {nodes.length === 0
            ? empty
            : nodes.map((node) =>
                node.type === "message" ? (
                  <PersonMessage key={node.id} message={node.message} note={notes.get(node.id)} />
                ) : (
                  <RunBlock key={node.id} run={node.run} parts={node.parts} />
                ),
              )}
        </div>
      </div>
      {unseen > 0 && (
        <button type="button" className="button unseen" onClick={toEnd}>
          <Icon name="down" />
          {unseen} new
        </button>
      )}
    </div>
  );
}

function shown(parts: readonly (Item | Call)[]): number {
  return parts.filter((part) => !("kind" in part) || part.kind === "text").length;
}
