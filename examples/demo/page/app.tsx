import { useCallback, useMemo, useRef, useState } from "react";
import { NameForm } from "./components/name-form.tsx";
import { SessionPage } from "./components/session-page.tsx";
import { forgetIdentity, mintIdentity, readIdentity, type Identity } from "./identity.ts";
import { openClient } from "./open-client.ts";

/** Asks for a name where this tab has none, then shows the session that the address names. */
export function App({ session }: { readonly session: string }) {
  const [identity, setIdentity] = useState<Identity | undefined>(readIdentity);
  const client = useMemo(() => identity && openClient(identity.token), [identity]);
  const renewedAt = useRef(0);
  const enter = useCallback(async (name: string) => setIdentity(await mintIdentity(name)), []);
  // The server was set up anew: the same name gets a new token. One that is refused at once needs a person.
  const onStale = useCallback(() => {
    const soon = Date.now() - renewedAt.current < 10_000;
    renewedAt.current = Date.now();
    const again = identity && !soon ? enter(identity.name) : Promise.reject(new Error("refused"));
    again.catch(() => {
      forgetIdentity();
      setIdentity(undefined);
    });
  }, [identity, enter]);
  if (!identity || !client) return <NameForm session={session} onName={enter} />;
  return (
    <SessionPage
      key={identity.token}
      id={session}
      client={client}
      identity={identity}
      onStale={onStale}
    />
  );
}
