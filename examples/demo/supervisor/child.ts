import { fork, type ChildProcess } from "node:child_process";

export interface ChildOptions {
  /** What people call it: "The server". */
  readonly name: string;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Without having been ready once it is not started again: what kept it from starting would do so again. */
  readonly mustStart?: boolean;
}

/** A process that is started again whenever it dies, until it is stopped. */
export interface Child {
  /** Of the process as it is now; undefined between two lives. */
  readonly pid: number | undefined;
  /** Resolves with its first message. @throws when one that must start ended before that */
  readonly ready: Promise<void>;
  /** Asks it to end, ends it when it does not, and waits until it is gone. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** One that lived this long has recovered; its next death begins with the shortest pause again. */
const HEALTHY_MS = 10_000;
const PATIENCE_MS = 6_000;

export function keepRunning({ name, file, env, log, mustStart }: ChildOptions): Child {
  let current: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let wasReady = false;
  let pause = FIRST_PAUSE_MS;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // for those who do not wait for it

  function start(): void {
    const since = Date.now();
    const child = fork(file, {
      execArgv: ["--conditions=@holdfast/source"],
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    current = child;
    child.once("message", () => {
      wasReady = true;
      ready.resolve();
    });
    child.once("exit", (code, signal) => {
      current = undefined;
      if (stopping) return;
      const how = signal ?? `exit code ${code}`;
      if (mustStart && !wasReady) return ready.reject(new Error(`${name} did not start (${how}).`));
      if (Date.now() - since > HEALTHY_MS) pause = FIRST_PAUSE_MS;
      log(`${name} ended (${how}); starting it again.`);
      timer = setTimeout(start, pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    });
  }

  start();
  return {
    get pid() {
      return current?.pid;
    },
    ready: ready.promise,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      const child = current;
      if (!child) return;
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      await gone;
      clearTimeout(late);
    },
  };
}
