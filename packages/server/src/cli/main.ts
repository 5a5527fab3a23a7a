#!/usr/bin/env node
import { dev } from "./dev.ts";
import { serve } from "./serve.ts";

const USAGE = `holdfast: a durable log for every agent conversation

  holdfast dev     for development: on this machine only, anybody may choose a name
  holdfast serve   signs tokens with HOLDFAST_SECRET (at least 32 bytes)

  --data <directory>   where sessions are kept        (default .holdfast)
  --port <port>        0: any free one                (default 4646)
  --host <address>     serve only                     (default 127.0.0.1)
  --pages <directory>  static pages served at /
  --agent <name>       of sessions that name none     (default default)
  --lease <ms>         how long an agent may be silent (default 30000)
  --rate <number>      commands a second of one principal, four times that at once (default 500)
  --max-result <bytes> of a call's answer; a larger one is kept in part (default 262144)`;

const [command, ...args] = process.argv.slice(2);
try {
  if (command === "dev") await dev(args);
  else if (command === "serve") await serve(args);
  else if (command === undefined || command === "help" || command === "--help") console.log(USAGE);
  else throw new Error(`There is no command ${command}.\n\n${USAGE}`);
} catch (error) {
  console.error(`holdfast: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
