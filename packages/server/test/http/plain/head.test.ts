import { describe, expect, test } from "vitest";
import { Heads, parseHead } from "../../../src/http/plain/head.ts";

const lines = (...all: string[]) => all.join("\r\n");

test("a plain head says method, target, headers by name in lower case, and length", () => {
  const text = lines(
    "POST /v1/sessions/s/commands?x=1 HTTP/1.1",
    "Host: here:80",
    "Content-Length: 12",
    "X-Empty:",
    "X-Spaced: \t a b\t ",
    "__proto__: x",
    "Connection: Keep-Alive",
  );
  expect(parseHead(text)).toStrictEqual({
    method: "POST",
    target: "/v1/sessions/s/commands?x=1",
    headers: new Map([
      ["host", "here:80"],
      ["content-length", "12"],
      ["x-empty", ""],
      ["x-spaced", "a b"],
      ["__proto__", "x"],
      ["connection", "Keep-Alive"],
    ]),
    length: 12,
  });
  expect(parseHead(lines("GET / HTTP/1.1", "host: h"))?.length).toBe(0);
});

const REQUEST = "POST / HTTP/1.1";
const HOST = "host: h";
const ODD: Readonly<Record<string, string>> = {
  nothing: "",
  "an empty line first": lines("", REQUEST, HOST),
  "no version": lines("POST /", HOST),
  "HTTP/1.0": lines("POST / HTTP/1.0", HOST),
  "another method": lines("TRACE / HTTP/1.1", HOST),
  "a method in lower case": lines("post / HTTP/1.1", HOST),
  "a whole URL": lines("POST http://h/ HTTP/1.1", HOST),
  "two spaces": lines("POST  / HTTP/1.1", HOST),
  "a space in the target": lines("POST /a b HTTP/1.1", HOST),
  "a backslash in the target": lines("POST /a\\b HTTP/1.1", HOST),
  "a fragment in the target": lines("POST /a#b HTTP/1.1", HOST),
  "a target beyond ASCII": lines("POST /\u00e4 HTTP/1.1", HOST),
  "no host": REQUEST,
  "an empty host": lines(REQUEST, "host: "),
  "a host with a path": lines(REQUEST, "host: h/x"),
  "a host with a user": lines(REQUEST, "host: a@h"),
  "a host whose port is none": lines(REQUEST, "host: h:65536"),
  "a host whose address is none": lines(REQUEST, "host: [::::]"),
  "two hosts": lines(REQUEST, HOST, "Host: i"),
  "two lengths": lines(REQUEST, HOST, "content-length: 1", "Content-Length: 1"),
  "a list of lengths": lines(REQUEST, HOST, "content-length: 1, 1"),
  "a signed length": lines(REQUEST, HOST, "content-length: +1"),
  "a negative length": lines(REQUEST, HOST, "content-length: -1"),
  "a hexadecimal length": lines(REQUEST, HOST, "content-length: 0x1"),
  "an empty length": lines(REQUEST, HOST, "content-length:"),
  "an endless length": lines(REQUEST, HOST, "content-length: 9999999999"),
  chunks: lines(REQUEST, HOST, "transfer-encoding: chunked"),
  "chunks and a length": lines(REQUEST, HOST, "content-length: 1", "Transfer-Encoding: chunked"),
  "an expectation": lines(REQUEST, HOST, "Expect: 100-continue"),
  "an upgrade": lines(REQUEST, HOST, "connection: upgrade", "upgrade: websocket"),
  "a connection that closes": lines(REQUEST, HOST, "connection: close"),
  "a connection's own headers": lines(REQUEST, HOST, "connection: keep-alive, x-a", "x-a: 1"),
  "a connection that closes, to a proxy": lines(REQUEST, HOST, "Proxy-Connection: close"),
  "a folded line": lines(REQUEST, HOST, "x-a: 1", " 2"),
  "a space before the colon": lines(REQUEST, HOST, "content-length : 1"),
  "no colon": lines(REQUEST, HOST, "content-length"),
  "no name": lines(REQUEST, HOST, ": 1"),
  "a name beyond ASCII": lines(REQUEST, HOST, "x-\u00e4: 1"),
  "a bare line feed": lines(REQUEST, HOST, "x-a: 1\ncontent-length: 1"),
  "a bare carriage return": lines(REQUEST, HOST, "x-a: 1\rcontent-length: 1"),
  "a null": lines(REQUEST, HOST, "x-a: \0"),
  "a value beyond ASCII": lines(REQUEST, HOST, "x-a: \u00e4"),
};

describe("what is not plain is left to the full parser", () => {
  test.each(Object.entries(ODD))("%s", (_name, text) => {
    expect(parseHead(text)).toBeUndefined();
  });
});

test("a head is read once, and what is none is none again", () => {
  const heads = new Heads();
  const text = lines("GET /a HTTP/1.1", "host: h");
  expect(heads.read(text)).toStrictEqual(parseHead(text));
  expect(heads.read(text)).toBe(heads.read(text));
  expect(heads.read(lines("GET /b HTTP/1.1", "host: h"))?.target).toBe("/b");
  for (let n = 0; n < 2; n += 1) expect(heads.read("GET / HTTP/1.0")).toBeUndefined();
});

test("many heads, and long ones, are read and not kept for ever", () => {
  const heads = new Heads();
  const first = lines("GET /0 HTTP/1.1", "host: h");
  const kept = heads.read(first);
  for (let n = 1; n < 5_000; n += 1) heads.read(lines(`GET /${n} HTTP/1.1`, "host: h"));
  expect(heads.read(first)).toStrictEqual(kept);
  expect(heads.read(first)).not.toBe(kept);
  const long = lines(`GET /${"a".repeat(2_048)} HTTP/1.1`, "host: h");
  expect(heads.read(long)).toStrictEqual(heads.read(long));
  expect(heads.read(long)).not.toBe(heads.read(long));
  const many = lines(
    "GET / HTTP/1.1",
    "host: h",
    ...Array.from({ length: 32 }, (_, n) => `x${n}: `),
  );
  expect(heads.read(many)).not.toBe(heads.read(many));
});
