import { StorageConflict, StorageError } from "../../src/storage/storage.ts";

/** How each promise ended. */
export function settle(promises: readonly Promise<unknown>[]): Promise<string[]> {
  return Promise.all(
    promises.map((promise) =>
      promise.then(
        () => "done",
        (error: unknown) => {
          if (error instanceof StorageConflict) return "conflict";
          if (error instanceof StorageError) return error.reason;
          throw error;
        },
      ),
    ),
  );
}
