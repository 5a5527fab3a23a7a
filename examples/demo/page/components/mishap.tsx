import { HoldfastError } from "@holdfast/protocol";

/** What went wrong, in the server's words, with its code. Renders nothing without an error. */
export function Mishap({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const message =
    error instanceof Error ? error.message : "It did not work, for a reason that was not told.";
  return (
    <p className="mishap" role="alert">
      {message}
      {error instanceof HoldfastError && <code> {error.code}</code>}
    </p>
  );
}
