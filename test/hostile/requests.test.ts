import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHouse } from "../cases/support.ts";
import { changesNothing, connect, tokenOf, type Asked } from "./support.ts";

const COMMANDS = "/v1/sessions/s1/commands";
const ENTRIES = "/v1/sessions/s1/entries";
const post = (body: string | Uint8Array, headers: Record<string, string> = {}): Asked => ({
  method: "POST",
  path: COMMANDS,
  headers,
  body,
});
const large = Buffer.alloc(20 << 20, " ");
const message = '{"id":"x","type":"message.send","messageId":"x","content":"';

const REFUSED: Record<string, [status: number, code: string, asked: Asked]> = {
  "no body": [400, "invalid_request", { method: "POST", path: COMMANDS }],
  "an empty body": [400, "invalid_request", post("", { "content-length": "0" })],
  "half a body of JSON": [400, "invalid_request", post('{"id":"x",')],
  "two bodies of JSON": [400, "invalid_request", post("{}{}")],
  "single quotes": [400, "invalid_request", post("{'id':'x'}")],
  "a number for a body": [400, "invalid_request", post("1")],
  "null for a body": [400, "invalid_request", post("null")],
  "an array for a body": [400, "invalid_request", post("[]")],
  "an empty object": [400, "invalid_request", post("{}")],
  "a prototype for a body": [400, "invalid_request", post('{"__proto__":{"commands":[]}}')],
  "bytes that are no text": [
    400,
    "invalid_request",
    post(Buffer.concat([Buffer.from(message), Buffer.from([0xff, 0xc0]), Buffer.from('"}')])),
  ],
  "the same, with a length": [
    400,
    "invalid_request",
    post(Buffer.from(`${message}é"}`, "latin1"), { "content-length": String(message.length + 3) }),
  ],
  "a form": [400, "invalid_request", post("a=b", { "content-type": "text/plain" })],
  "a compressed body": [
    400,
    "invalid_request",
    post("\u001f\u008b", { "content-encoding": "gzip" }),
  ],
  "deep nesting": [400, "invalid_request", post("[".repeat(1e5) + "]".repeat(1e5))],
  "deep nesting of objects": [
    400,
    "invalid_request",
    post('{"a":'.repeat(300) + "1" + "}".repeat(300)),
  ],
  "deep nesting inside a command": [
    400,
    "invalid_request",
    post(
      `{"id":"x","type":"message.send","messageId":"x","content":"","metadata":{"a":${"[".repeat(255)}${"]".repeat(255)}}}`,
    ),
  ],
  "an unknown command": [400, "unknown_command", post('{"id":"x","type":"run.explode"}')],
  "a command of a prototype's name": [
    400,
    "unknown_command",
    post('{"id":"x","type":"__proto__"}'),
  ],
  "a command called constructor": [400, "unknown_command", post('{"id":"x","type":"constructor"}')],
  "commands that are no array": [400, "invalid_request", post('{"commands":{"length":1}}')],
  "too many commands": [400, "invalid_request", post(`{"commands":[${"0,".repeat(1000)}0]}`)],
  "a large body that says so": [413, "too_large", post(large, { "content-length": `${20 << 20}` })],
  "a large body that does not": [413, "too_large", post(large)],
  "an unknown session": [404, "unknown_session", { path: "/v1/sessions/nope" }],
  "an unknown session's state": [404, "unknown_session", { path: "/v1/sessions/nope/state" }],
  "an unknown session's stream": [
    404,
    "unknown_session",
    { path: "/v1/sessions/nope/entries", headers: { accept: "text/event-stream" } },
  ],
  "an escape that is cut off": [400, "invalid_request", { path: "/v1/sessions/%E0%A4%A" }],
  "an escape of a lone surrogate": [400, "invalid_request", { path: "/v1/sessions/%ED%A0%80" }],
  "an escape that is none": [400, "invalid_request", { method: "PUT", path: "/v1/sessions/%zz" }],
  "an escaped NUL": [400, "invalid_request", { method: "PUT", path: "/v1/sessions/%00" }],
  "a very long id": [
    400,
    "invalid_request",
    { method: "PUT", path: `/v1/sessions/${"x".repeat(9e3)}` },
  ],
  "a way up": [404, "not_found", { method: "DELETE", path: "/v1/sessions/%2e%2e" }],
  "a backslash": [400, "invalid_request", { path: "/v1/sessions/a\\b" }],
  "a Host that is none": [400, "invalid_request", { path: "/healthz", headers: { host: "a b" } }],
  "a Host with a user": [
    400,
    "invalid_request",
    { path: "/healthz", headers: { host: "localhost@evil.example" } },
  ],
  "a method that means nothing": [
    404,
    "not_found",
    { method: "PROPFIND", path: "/v1/sessions/s1" },
  ],
  "OPTIONS of another origin": [
    403,
    "forbidden",
    {
      method: "OPTIONS",
      path: COMMANDS,
      headers: { origin: "http://evil.example", "access-control-request-method": "POST" },
    },
  ],
  "an offset that is none": [400, "invalid_offset", { path: `${ENTRIES}?after=garbage` }],
  "an offset with NUL": [400, "invalid_offset", { path: `${ENTRIES}?after=%00` }],
  "an offset with a line break": [
    400,
    "invalid_offset",
    { path: `${ENTRIES}?after=0000000000000.00000000001%0A` },
  ],
  "an offset of another epoch": [
    409,
    "reset",
    { path: `${ENTRIES}?after=0000000000000.00000000001` },
  ],
  "a Last-Event-ID that is none": [
    400,
    "invalid_offset",
    { path: ENTRIES, headers: { accept: "text/event-stream", "last-event-id": "{}" } },
  ],
  "a limit of 0": [400, "invalid_request", { path: `${ENTRIES}?limit=0` }],
  "a limit that is no number": [400, "invalid_request", { path: `${ENTRIES}?limit=1e9` }],
  "a claim that waits too long": [
    400,
    "invalid_request",
    {
      method: "POST",
      path: "/v1/work/claim",
      body: '{"agent":"demo","worker":"w","waitMs":1e400}',
    },
  ],
};

test("what cannot be understood is refused in words, and both session and connection are as before", async () => {
  const logged: unknown[] = [];
  await using house = await openHouse({ log: (...words) => void logged.push(words) });
  await house.send("go");
  using connection = connect(house.url, await tokenOf(house, "eve"));
  const { socket } = await connection.ask({ path: "/healthz" });
  await changesNothing(house, async () => {
    for (const [label, [status, code, asked]] of Object.entries(REFUSED)) {
      const answer = await connection.ask(asked);
      expect([label, answer.status, answer.code]).toEqual([label, status, code]);
      expect(JSON.parse(answer.text).detail, label).toMatch(/\w+.*\.$/);
      expect(answer.headers["access-control-allow-origin"], label).toBeUndefined();
      const next = await connection.ask({ path: "/healthz" });
      expect([label, next.status, next.socket]).toEqual([label, 200, socket]);
    }
  });
  expect(logged).toEqual([]); // none of it is the server's failure
});

test("a body that breaks off is nothing to the server", async () => {
  const logged: unknown[] = [];
  await using house = await openHouse({ log: (...words) => void logged.push(words) });
  const token = await tokenOf(house, "eve");
  const { hostname, port } = new URL(house.url);
  await changesNothing(house, async () => {
    for (const length of ["content-length: 1000", "transfer-encoding: chunked"]) {
      const socket = connectSocket(Number(port), hostname);
      socket.on("error", () => {}); // it is about to be cut
      const head = `POST ${COMMANDS} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n${length}\r\n\r\n`;
      await new Promise<void>((resolve) => socket.write(`${head}5\r\n{"id"\r\n`, () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, 20)); // the request is being read
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.resetAndDestroy();
      await closed;
    }
    await house.ana.call("GET", "/healthz");
  });
  expect(logged).toEqual([]);
});

test("pages show what lies below their directory and nothing else", async () => {
  const root = await mkdtemp(join(tmpdir(), "holdfast-pages-"));
  const pages = join(root, "pages");
  await mkdir(join(pages, "assets"), { recursive: true });
  await writeFile(join(pages, "index.html"), "INDEX");
  await writeFile(join(pages, "assets", "a.js"), "ASSET");
  await writeFile(join(root, "secret"), "SECRET");
  await writeFile(join(pages, "secret"), "SECRET");
  await using house = await openHouse({ pages });
  using connection = connect(house.url, "none");
  const ways = [
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%5c",
    "..\\",
    "%252e%252e%252f",
    "....//",
    "./../",
  ];
  for (const way of ways) {
    for (const times of [1, 2, 3]) {
      for (const file of ["secret", "etc/passwd"]) {
        for (const base of ["/assets/", "/assets//", "/assets/x/", "/"]) {
          const path = `${base}${way.repeat(times)}${file}`;
          const { status, text } = await connection.ask({ path });
          expect([path, status, text.includes("SECRET") || text.includes("root:")]).toEqual([
            path,
            status === 400 ? 400 : 404,
            false,
          ]);
        }
      }
    }
  }
  for (const path of [
    "/assets/%00",
    "/assets/a.js%00.html",
    "/assets/%E0%A4%A",
    "/assets/",
    "/assets",
  ]) {
    expect([path, (await connection.ask({ path })).code]).toEqual([path, "not_found"]);
  }
  const html = { accept: "text/html" };
  const page = await connection.ask({
    path: "/<script>alert(1)</script>?x=<script>",
    headers: html,
  });
  expect([page.text, page.headers["content-security-policy"]]).toEqual([
    "INDEX",
    expect.stringContaining("default-src 'none'"),
  ]);
  const lost = await connection.ask({ path: "/v1/<script>alert(1)</script>", headers: html });
  expect([lost.code, lost.headers["content-type"]]).toEqual([
    "not_found",
    "application/problem+json",
  ]);
  await rm(root, { recursive: true });
});
