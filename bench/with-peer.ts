import { fork } from "node:child_process";
import { once } from "node:events";

/** Runs a server in a process of its own, for as long as `use` takes. `cpuMs` is the processor time it has had. */
export async function withPeer<T>(
  module: string,
  use: (url: string, cpuMs: () => Promise<number>) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const child = fork(new URL(module, import.meta.url), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  const ended = once(child, "exit");
  try {
    const [message] = (await Promise.race([
      once(child, "message"),
      ended.then(() => {
        throw new Error(`${module} ended before it listened.`);
      }),
    ])) as [{ url: string }];
    return await use(message.url, async () => {
      child.send("cpu");
      const [answer] = (await once(child, "message")) as [{ cpuMs: number }];
      return answer.cpuMs;
    });
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}
