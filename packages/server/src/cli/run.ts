import type { ServerOptions } from "../config.ts";
import { createServer } from "../server.ts";

/** Serves until a signal says to stop; then finishes what was begun. The storage stays open. */
export async function run(
  options: ServerOptions,
  at: { readonly port: number; readonly hostname: string },
): Promise<void> {
  await using server = createServer(options);
  const { url } = await server.listen(at);
  console.log(`holdfast: listening on ${url}`);
  await stopSignal();
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}
