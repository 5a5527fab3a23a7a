import { cleanup, configure } from "@testing-library/react";
import { StrictMode, type ReactNode } from "react";
import { afterEach } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { HoldfastProvider } from "../../src/react/index.ts";
import type { Loopback } from "../support/loopback.ts";
import { clientOf } from "../support/offer.ts";

const clients: Client[] = [];

/** To be said once in each file: ends what its tests render, and their clients. */
export function tidyUp(): void {
  // A limit is there to end a hang, not to time anything.
  configure({ asyncUtilTimeout: 20_000 });
  afterEach(async () => {
    cleanup();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
}

/** Has a client closed when its test ends. */
export function closing(client: Client): Client {
  clients.push(client);
  return client;
}

export function providerFor(net: Loopback): (props: { children?: ReactNode }) => ReactNode {
  const client = closing(clientOf(net));
  return ({ children }) => <HoldfastProvider client={client}>{children}</HoldfastProvider>;
}

export function strict(Inner: (props: { children?: ReactNode }) => ReactNode): typeof Inner {
  return ({ children }) => (
    <StrictMode>
      <Inner>{children}</Inner>
    </StrictMode>
  );
}
