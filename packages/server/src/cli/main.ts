#!/usr/bin/env node
import { audit } from "./audit.ts";
import { dev } from "./dev.ts";
import { serve } from "./serve.ts";
import { token } from "./token.ts";
import { verify } from "./verify.ts";

const USAGE = `holdfast: a durable log for every agent conversation

  holdfast dev     for development: on this machine only, anybody may choose a name
  holdfast serve   checks tokens with the keys below
  holdfast token   prints a token signed with HOLDFAST_PRIVATE_KEY or HOLDFAST_SECRET

  HOLDFAST_SECRET          at least 32 bytes: HS256
  HOLDFAST_FORMER_SECRETS  whose tokens still hold, with spaces between them
  HOLDFAST_PUBLIC_KEYS     PEM blocks, a JWK or a JWK set: RS256, ES256
  HOLDFAST_JWKS_URL        where an issuer publishes its keys

  holdfast audit export <session> [--url <server>] [--after <record>] [--out <file>]
                                                      as JSON lines, with the token in HOLDFAST_TOKEN
  holdfast audit verify <file> [--key <public key>]   checks an exported audit
  holdfast audit key                                  the public key it is signed with

  holdfast verify <file, URL or -> [--input <file>] [--strict] [--json]
                       checks an AG-UI stream: recorded as server-sent events, JSON lines or a JSON array, or live,
                       answering --input or a greeting; --header '<name>: <value>' goes along, and may be repeated
                       exit code 0: no violation, 1: some, 2: it could not be read

  --data <directory>   where sessions are kept        (default .holdfast)
  --port <port>        0: any free one                (default 4646)
  --host <address>     serve only                     (default 127.0.0.1)
  --pages <directory>  static pages served at /
  --agent <name>       of sessions that name none     (default default)
  --agent [<name>=]<url>  an AG-UI endpoint that is an agent, without a name the one above; may be repeated
                       HOLDFAST_AGENT_AUTHORIZATION is sent to them, HOLDFAST_AGENT_AUTHORIZATION_<NAME> to one
  --lease <ms>         how long an agent may be silent (default 30000)
  --rate <number>      commands a second of one principal, four times that at once (default 500)
  --max-result <bytes> of a call's answer; a larger one is kept in part (default 262144)
  --issuer <text>      what tokens must say is their issuer, and token says
  --audience <text>    the same for their audience
  --cors-origin <url>  an origin whose pages may use the server; may be repeated
  --agent-webhook <agent>=<url>   told when the agent has work; may be repeated
  --notify-webhook <url>          told when a call waits and nobody is connected
                       both sign with HOLDFAST_WEBHOOK_SECRET

  holdfast token --sub <principal> --grant <sessions>=<verb>,<verb> [--ttl 1h] [--kid <id>]

  --sub <principal>    user:<name>, agent:<name> or app:<name>
  --grant …            such as 'team-a-*=read,send,answer:*'; may be repeated
                       read data data:<tool> send cancel answer:<tool> approve:<tool> agent:<id> admin
  --ttl <time>         30s, 15m, 1h, 7d                (default 1h)`;

const [command, ...args] = process.argv.slice(2);
try {
  requireNode(24);
  if (command === "dev") await dev(args);
  else if (command === "serve") await serve(args);
  else if (command === "token") await token(args);
  else if (command === "audit") await audit(args);
  else if (command === "verify") await verify(args);
  else if (command === undefined || command === "help" || command === "--help") console.log(USAGE);
  else throw new Error(`There is no command ${command}.\n\n${USAGE}`);
} catch (error) {
  console.error(`holdfast: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** What is missing in an older one shows late, and says nothing of it. */
function requireNode(major: number): void {
  const running = process.versions.node;
  if (Number.parseInt(running, 10) >= major) return;
  throw new Error(`This is Node ${running}: install Node ${major} or newer, and run it with that.`);
}
