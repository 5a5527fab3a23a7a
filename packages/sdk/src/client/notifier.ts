/** Calls `run` soon, once. */
export type Schedule = (run: () => void) => void;

/** Tells listeners that something changed: at most once per scheduled turn, however much changed in it. */
export interface Notifier {
  /** Goes up with every notification, so that what listeners derive can be kept until the next. */
  readonly version: number;
  subscribe(listener: () => void): () => void;
  changed(): void;
}

export function createNotifier(schedule: Schedule): Notifier {
  const listeners = new Set<() => void>();
  let version = 0;
  let scheduled = false;
  return {
    get version() {
      return version;
    },
    subscribe(listener) {
      // Wrapped, so that one function subscribed twice is two subscriptions.
      const entry = () => listener();
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    changed() {
      if (scheduled) return;
      scheduled = true;
      schedule(() => {
        scheduled = false;
        version += 1;
        for (const listener of listeners) {
          try {
            listener();
          } catch (error) {
            // One listener's failure is its own; the others are told all the same.
            reportError(error);
          }
        }
      });
    },
  };
}

/** The next rendered frame where there is a visible page, else the next turn of the event loop. */
export const nextFrame: Schedule = (run) => {
  if (typeof document === "undefined" || document.visibilityState !== "visible") {
    setTimeout(run, 0);
    return;
  }
  // A page that becomes hidden in between gets no frame; the timer then runs instead.
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, 100);
};

function reportError(error: unknown): void {
  setTimeout(() => {
    throw error;
  }, 0);
}
