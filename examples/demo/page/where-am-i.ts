import type { Json } from "@holdfast/protocol";

export type Whereabouts =
  | { readonly type: "found"; readonly place: Json }
  | { readonly type: "unknown"; readonly why: string };

const PATIENCE_MS = 8_000;

/**
 * Asks the browser where it is, who asks the person. Never rejects: a browser that may not or cannot say is a normal
 * answer, and so is one that was not asked to the end.
 */
export function whereAmI(signal: AbortSignal): Promise<Whereabouts> {
  return new Promise((resolve) => {
    if (!("geolocation" in navigator))
      return resolve({ type: "unknown", why: "This browser cannot say where it is." });
    // Some browsers never call back while their question is left open.
    const late = setTimeout(
      () => resolve({ type: "unknown", why: "This browser did not say where it is." }),
      PATIENCE_MS + 1_000,
    );
    signal.addEventListener("abort", () => {
      clearTimeout(late);
      resolve({ type: "unknown", why: "It is not asked for any more." });
    });
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        clearTimeout(late);
        resolve({
          type: "found",
          place: {
            latitude: round(coords.latitude),
            longitude: round(coords.longitude),
            accuracyMetres: Math.round(coords.accuracy),
            source: "device",
          },
        });
      },
      (error) => {
        clearTimeout(late);
        resolve({
          type: "unknown",
          why:
            error.code === error.PERMISSION_DENIED
              ? "This browser was not allowed to say where it is."
              : "This browser could not find out where it is.",
        });
      },
      { timeout: PATIENCE_MS, maximumAge: 60_000 },
    );
  });
}

/** About ten metres; an agent needs no more. */
function round(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000;
}
