import { useState } from "react";
import { ConnectionChip, type Connection } from "./connection-chip.tsx";
import { Icon } from "./icons.tsx";
import { People } from "./people.tsx";

interface HeaderProps {
  readonly session: string;
  readonly people: readonly string[];
  readonly me: string;
  readonly connection: Connection;
  readonly railOpen: boolean;
  readonly onRail: () => void;
}

export function Header({ session, people, me, connection, railOpen, onRail }: HeaderProps) {
  return (
    <header className="header">
      <a className="product" href="/" title="Begin a new session">
        Holdfast
      </a>
      <SessionName session={session} />
      <People principals={people} me={me} />
      <ConnectionChip connection={connection} />
      <span className="header-actions">
        <a
          className="button"
          href={`/s/${encodeURIComponent(session)}`}
          target="_blank"
          rel="noopener"
          title="Opens this session in a new tab under another name"
        >
          <Icon name="new-tab" />
          <span className="wide-only">Open as someone else</span>
          <span className="visually-hidden narrow-only">Open as someone else</span>
        </a>
        <button
          type="button"
          className="button square"
          aria-expanded={railOpen}
          aria-label="What the server knows"
          title="What the server knows"
          onClick={onRail}
        >
          <Icon name="panel" />
        </button>
      </span>
    </header>
  );
}

function SessionName({ session }: { readonly session: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    setCopied(true);
  };
  return (
    <button
      type="button"
      className="session-name"
      title="Copy the link to this session"
      onClick={() => void copy().catch(() => setCopied(false))}
      onBlur={() => setCopied(false)}
    >
      <span className="session-id">{session}</span>
      {copied ? <span className="label">link copied</span> : <Icon name="copy" />}
    </button>
  );
}
