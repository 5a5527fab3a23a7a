import { useEffect, useRef, useSyncExternalStore, type ReactNode } from "react";
import { Icon } from "../icons.tsx";

interface RailPlaceProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

const wide = "(min-width: 1100px)";

/** Where the rail stands: beside the conversation where there is room, else a sheet over it. */
export function RailPlace({ open, onClose, children }: RailPlaceProps) {
  const beside = useMedia(wide);
  if (!open) return null;
  if (beside)
    return (
      <aside className="rail" aria-label="What the server knows">
        <RailTitle onClose={onClose} />
        {children}
      </aside>
    );
  return (
    <Sheet onClose={onClose}>
      <RailTitle onClose={onClose} />
      {children}
    </Sheet>
  );
}

export function isRailBeside(): boolean {
  return matchMedia(wide).matches;
}

function RailTitle({ onClose }: { readonly onClose: () => void }) {
  return (
    <header className="rail-title">
      <h2>What the server knows</h2>
      <button
        type="button"
        className="button quiet square"
        aria-label="Close"
        title="Close"
        onClick={onClose}
      >
        <Icon name="cross" />
      </button>
    </header>
  );
}

function Sheet({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className="sheet"
      aria-label="What the server knows"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="sheet-content">{children}</div>
    </dialog>
  );
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}
