import { useState } from "react";
import { useAction } from "../hooks/use-action.ts";
import { Mishap } from "./mishap.tsx";

/** Asks who is here. The name becomes a token, so that "who decided" is true. */
export function NameForm({
  session,
  onName,
}: {
  readonly session: string;
  readonly onName: (name: string) => Promise<void>;
}) {
  const [name, setName] = useState("");
  const enter = useAction(onName);
  return (
    <main className="name-page">
      <form
        className="name-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") void enter.run(name.trim());
        }}
      >
        <p className="product">Holdfast demo</p>
        <h1>Who are you?</h1>
        <p className="label">
          Your name stands beside what you say and decide in <strong>{session}</strong>. Another tab
          or browser can be another person.
        </p>
        <label className="label" htmlFor="name">
          Name
        </label>
        <input
          id="name"
          className="field"
          value={name}
          maxLength={40}
          autoComplete="off"
          autoFocus
          onChange={(event) => setName(event.target.value)}
        />
        <button
          type="submit"
          className="button primary"
          disabled={name.trim() === "" || enter.busy}
        >
          Enter the session
        </button>
        <Mishap error={enter.error} />
      </form>
    </main>
  );
}
