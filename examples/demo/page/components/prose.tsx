import { memo, type ReactNode } from "react";
import { Caret } from "./card/arguments-view.tsx";

/**
 * What a model wrote, as text: paragraphs, code fences, and within a line code, emphasis and https links. Everything
 * else, markup included, is shown as it was written.
 */
export function Prose({ text, open = false }: { readonly text: string; readonly open?: boolean }) {
  const blocks = blocksOf(text);
  if (blocks.length === 0 && open) blocks.push({ kind: "paragraph", text: "" });
  return (
    <div className="prose">
      {blocks.map((block, at) => (
        <ProseBlock
          key={at}
          kind={block.kind}
          text={block.text}
          caret={open && at === blocks.length - 1}
        />
      ))}
    </div>
  );
}

interface Block {
  readonly kind: "paragraph" | "code";
  readonly text: string;
}

const ProseBlock = memo(function ProseBlock({ kind, text, caret }: Block & { caret: boolean }) {
  if (kind === "code")
    return (
      <pre className="prose-code">
        {text}
        {caret && <Caret />}
      </pre>
    );
  return (
    <p>
      {inline(text)}
      {caret && <Caret />}
    </p>
  );
});

/** Text with its https links made links; nothing else is read into it. */
export function PlainText({ text }: { readonly text: string }) {
  return <>{linked(text, "t")}</>;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const fences = text.split(/^```[^\n]*\n?/m);
  fences.forEach((piece, at) => {
    if (at % 2 === 1) {
      blocks.push({ kind: "code", text: piece.replace(/\n$/, "") });
      return;
    }
    for (const paragraph of piece.split(/\n{2,}/)) {
      if (paragraph.trim() !== "")
        blocks.push({ kind: "paragraph", text: paragraph.replaceAll(/^\n+|\n+$/g, "") });
    }
  });
  return blocks;
}

function inline(text: string): ReactNode[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).flatMap((piece, at): ReactNode[] => {
    if (at % 2 === 0) return linked(piece, `${at}`);
    if (piece.startsWith("`")) return [<code key={at}>{piece.slice(1, -1)}</code>];
    return [<strong key={at}>{piece.slice(2, -2)}</strong>];
  });
}

function linked(text: string, prefix: string): ReactNode[] {
  return text.split(/(https:\/\/[^\s<>"'`)\]]*[^\s<>"'`)\].,;:!?])/).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <a
        key={`${prefix}:${at}`}
        href={piece}
        target="_blank"
        rel="noopener noreferrer"
        referrerPolicy="no-referrer"
      >
        {piece}
      </a>
    ),
  );
}
