import { createServer } from "node:net";

const HOST = "127.0.0.1";

/**
 * The first port from `first` on that nothing listens on; only `first` itself where it was asked for by name.
 *
 * @throws {Error} when none of the ports tried is free, saying what to do
 */
export async function freePort(first: number, tries: number): Promise<number> {
  for (let port = first; port < first + tries; port += 1) if (await isFree(port)) return port;
  throw new Error(
    tries === 1
      ? `Port ${first} is taken: set HOLDFAST_PORT to another one, or leave it out for the next free one.`
      : `Ports ${first} to ${first + tries - 1} are taken: set HOLDFAST_PORT to a free one.`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, HOST, () => probe.close(() => resolve(true)));
  });
}
