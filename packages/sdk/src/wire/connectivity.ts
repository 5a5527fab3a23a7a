/** Whether the device believes to have a network; a hint that saves waiting, never trusted when it says yes. */
export interface Connectivity {
  online(): boolean;
  /** Calls `listener` when the device comes back. @returns what stops it */
  onBack(listener: () => void): () => void;
}

/** The browser's word where there is a browser; elsewhere always online. */
export const systemConnectivity: Connectivity = {
  online: () => typeof navigator === "undefined" || navigator.onLine !== false,
  onBack(listener) {
    if (typeof addEventListener !== "function") return () => {};
    addEventListener("online", listener);
    return () => removeEventListener("online", listener);
  },
};
