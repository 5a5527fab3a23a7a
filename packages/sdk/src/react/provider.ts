import { createContext, createElement, useContext, type ReactNode } from "react";
import type { Client } from "../client/index.ts";

const HoldfastContext = createContext<Client | undefined>(undefined);

/** Gives a client to the hooks below, for those who do not pass it themselves. */
export function HoldfastProvider({
  client,
  children,
}: {
  readonly client: Client;
  readonly children?: ReactNode;
}): ReactNode {
  return createElement(HoldfastContext.Provider, { value: client }, children);
}

/** The client of the nearest {@link HoldfastProvider}, if there is one. */
export function useHoldfast(): Client | undefined {
  return useContext(HoldfastContext);
}
