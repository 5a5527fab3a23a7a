/** Who this tab is: a chosen name and the token that says so. */
export interface Identity {
  readonly name: string;
  readonly principal: string;
  readonly token: string;
}

const KEY = "holdfast.identity";

/** This tab's identity. Kept for the tab alone, so that another tab or browser can be another person. */
export function readIdentity(): Identity | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return isIdentity(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Has a name made into a token and keeps both.
 *
 * @throws {Error} the server's words when it refuses the name or cannot be reached
 */
export async function mintIdentity(name: string): Promise<Identity> {
  const response = await fetch("/v1/dev/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  }).catch((cause: unknown) => {
    throw new Error("The server cannot be reached: is `npm start` still running?", { cause });
  });
  const value = (await response.json()) as Partial<Identity> & { detail?: string };
  if (!response.ok || value.token === undefined || value.principal === undefined)
    throw new Error(value.detail ?? `The server refused the name (${response.status}).`);
  const identity = { name, principal: value.principal, token: value.token };
  sessionStorage.setItem(KEY, JSON.stringify(identity));
  return identity;
}

export function forgetIdentity(): void {
  sessionStorage.removeItem(KEY);
}

function isIdentity(value: unknown): value is Identity {
  return (
    typeof value === "object" &&
    value !== null &&
    ["name", "principal", "token"].every((key) => typeof Reflect.get(value, key) === "string")
  );
}
